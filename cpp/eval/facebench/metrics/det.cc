#include "facebench/metrics/det.h"

#include "facebench/metrics/internal/measures.h"

namespace facebench {

DetCurve det(const RocCurve& curve) {
  require_both(curve.genuine, curve.impostor, "the DET curve");
  return {curve.threshold, curve.fpr(), curve.fnr()};
}

}  // namespace facebench
