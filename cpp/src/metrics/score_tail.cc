#include "facebench/metrics/score_tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>

#include "facebench/core/error.h"
#include "metrics/measures.h"

namespace facebench {

std::int64_t allowed_false_accepts(double far, std::int64_t impostor_count) {
  const auto n = static_cast<double>(impostor_count);
  auto k = static_cast<std::int64_t>(far * n);
  while (k < impostor_count && static_cast<double>(k + 1) / n <= far) ++k;
  while (k > 0 && static_cast<double>(k) / n > far) --k;
  return k;
}

TarAtFar tar_at_far(const ScoreTail& tail, double far) {
  check_far(far);
  const auto genuine = static_cast<std::int64_t>(tail.genuine.size());
  if (genuine == 0 || tail.impostor_count == 0)
    throw std::invalid_argument(
        "the TAR at a FAR is undefined: no genuine or no impostor comparisons");
  const std::int64_t allowed = allowed_false_accepts(far, tail.impostor_count);
  if (std::min(allowed + 1, tail.impostor_count) > tail.impostor_reach)
    fail("the kept scores",
         fmt::format("hold the {} highest of {} impostor comparisons, but a FAR of {} allows {}",
                     tail.impostor_reach, tail.impostor_count, far, allowed),
         "Score again with a tail for that FAR.");
  if (allowed == tail.impostor_count)
    return exact_cell(far, genuine, tail.impostor_count, genuine, tail.impostor_count,
                      std::min(tail.genuine.back(), tail.impostor.back()));
  // The highest score that would accept too many, and the lowest above it.
  const double rejected =
      tail.impostor[std::min(static_cast<std::size_t>(allowed), tail.impostor.size() - 1)];
  double accepted = std::numeric_limits<double>::infinity();
  const auto count_above = [&](const std::vector<double>& scores) -> std::int64_t {
    const auto end =
        std::lower_bound(scores.begin(), scores.end(), rejected, std::greater<double>());
    if (end != scores.begin()) accepted = std::min(accepted, *(end - 1));
    return end - scores.begin();
  };
  const std::int64_t true_accepts = count_above(tail.genuine);
  const std::int64_t false_accepts = count_above(tail.impostor);
  return exact_cell(far, genuine, tail.impostor_count, true_accepts, false_accepts,
                    threshold_at_cut(rejected, accepted));
}

}  // namespace facebench
