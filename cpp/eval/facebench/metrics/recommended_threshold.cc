#include "facebench/metrics/recommended_threshold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "facebench/core/options.h"
#include "facebench/metrics/fixed_threshold.h"
#include "facebench/metrics/internal/measures.h"

namespace facebench {

RecommendedThreshold recommend_threshold(const std::shared_ptr<const Comparisons>& comparisons,
                                         const ComparisonGraph& graph, double fmr,
                                         const BootstrapOptions& options, const Job& job) {
  check_options(options);
  const Comparisons& c = *comparisons;
  if (!(fmr > 0 && fmr < 1))
    throw std::invalid_argument(fmt::format("the FMR is {}; it must lie in (0, 1)", fmr));
  if (c.impostor() == 0) throw std::invalid_argument("there is no impostor comparison");

  // Thresholds under each distinct score, and the false matches there; the first accepts nothing.
  std::vector<double> thresholds = {threshold_above(c.scores().front())};
  std::vector<std::int64_t> matches = {0};
  std::int64_t count = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    count += c.labels()[i] == 0;
    if (i + 1 < c.size() && c.scores()[i + 1] == c.scores()[i]) continue;
    const double threshold =
        i + 1 < c.size() ? threshold_between(c.scores()[i + 1], c.scores()[i]) : c.scores()[i];
    if (count == matches.back()) {
      thresholds.back() = threshold;  // as many false matches, and more true ones
    } else {
      thresholds.push_back(threshold);
      matches.push_back(count);
    }
  }

  RecommendedThreshold result;
  result.fmr = fmr;
  result.level = options.level;
  result.expected_false_matches = fmr * static_cast<double>(c.impostor());
  result.reliable = enough_expected(result.expected_false_matches);
  std::size_t at = 0;
  while (at + 1 < matches.size() && within_far(matches[at + 1], c.impostor(), fmr)) ++at;
  result.threshold = thresholds[at];
  result.false_matches = matches[at];

  const Bootstrap bootstrap(graph, Resampling::dyadic);
  const auto bound = [&](std::size_t k) {
    const Statistic rate = fmr_statistic(comparisons, thresholds[k]);
    const Replicates drawn = bootstrap.replicates_with_freedom({&rate, 1}, options, job);
    const double upper = upper_bound_of(drawn, 0, rate, options.level);
    return std::isnan(upper) ? 1.0 : upper;  // too few people to say anything
  };
  result.least_bound = bound(0);
  if (result.least_bound > fmr) return result;
  std::size_t low = 0, high = at + 1;  // the bound keeps to the FMR at low; not looked at from high
  while (low + 1 < high) {
    const std::size_t middle = (low + high) / 2;
    (bound(middle) <= fmr ? low : high) = middle;
  }
  result.safe = thresholds[low];
  result.safe_false_matches = matches[low];
  return result;
}

}  // namespace facebench
