#include "facebench/metrics/det.h"

#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {

DetCurve det(const RocCurve& curve) {
  require_both(curve.genuine, curve.impostor, "the DET curve");
  return {curve.threshold, curve.fpr(), curve.fnr()};
}

FnmrAtFmr fnmr_at_fmr(const Comparisons& comparisons, double fmr, std::string_view convention,
                      std::span<const Weight> weights) {
  const TarAtFar tar = tar_at_far(comparisons, fmr, convention, weights);
  const std::int64_t missed = tar.genuine - tar.genuine_accepted;
  // One division where the TAR is one: 1 - 0.9 is not 0.1.
  const bool counted = tar.value == ratio(tar.genuine_accepted, tar.genuine);
  return {counted ? ratio(missed, tar.genuine) : 1 - tar.value,
          tar.far_target,
          tar.far_achieved,
          tar.false_accepts,
          tar.expected_false_accepts,
          tar.reliable,
          tar.threshold,
          missed,
          tar.genuine,
          tar.impostor,
          tar.convention};
}

}  // namespace facebench
