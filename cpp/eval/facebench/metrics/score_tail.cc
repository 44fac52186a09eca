#include "facebench/metrics/score_tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "facebench/core/error.h"
#include "facebench/metrics/internal/measures.h"

namespace facebench {

void check_tail(const ScoreTail& t) {
  const auto require = [](bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(std::string("score tail: ") + what);
  };
  const auto descending = [](const std::vector<double>& scores) {
    return std::ranges::all_of(scores, [](double s) { return std::isfinite(s); }) &&
           std::ranges::is_sorted(scores, std::greater<>());
  };
  require(descending(t.genuine) && descending(t.impostor), "the scores do not descend");
  require(t.genuine_row.size() == t.genuine.size() && t.genuine_column.size() == t.genuine.size() &&
              t.impostor_row.size() <= t.impostor.size() &&
              t.impostor_column.size() == t.impostor_row.size(),
          "rows and columns do not fit the scores");
  const auto kept = static_cast<std::int64_t>(t.impostor.size());
  require(kept <= t.impostor_reach && t.impostor_reach <= t.impostor_count,
          "the counts of impostors contradict each other");
  require(std::isfinite(t.histogram_blur) && t.histogram_blur >= 0, "the blur is not a distance");
  const ScoreHistogram& h = t.histogram;
  if (h.edges.empty() && h.genuine.empty() && h.impostor.empty()) return;
  require(h.edges.size() == h.impostor.size() + 1 && h.genuine.size() == h.impostor.size() &&
              !h.impostor.empty() && std::ranges::is_sorted(h.edges, std::less_equal<>()) &&
              std::isfinite(h.edges.front()) && std::isfinite(h.edges.back()),
          "the histogram's edges do not rise or do not fit its counts");
  const auto sums_to = [](const std::vector<std::int64_t>& counts, std::int64_t all) {
    for (const std::int64_t n : counts) {
      if (n < 0 || n > all) return false;
      all -= n;
    }
    return all == 0;
  };
  require(sums_to(h.impostor, t.impostor_count) &&
              sums_to(h.genuine, static_cast<std::int64_t>(t.genuine.size())),
          "the histogram does not count all comparisons");
}

std::int64_t allowed_false_accepts(double far, std::int64_t impostor_count) {
  auto k = static_cast<std::int64_t>(far * static_cast<double>(impostor_count));
  while (k < impostor_count && within_far(k + 1, impostor_count, far)) ++k;
  while (k > 0 && !within_far(k, impostor_count, far)) --k;
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
    return exact_tar_at_far(
        points_around(genuine, allowed, genuine, allowed,
                      std::min(tail.genuine.back(), tail.impostor.back()), std::nullopt),
        far);
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
  return exact_tar_at_far(
      points_around(genuine, tail.impostor_count, true_accepts, false_accepts, accepted, rejected),
      far);
}

}  // namespace facebench
