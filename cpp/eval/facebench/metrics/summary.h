#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace facebench {

struct Moments {
  std::int64_t count = 0;
  double mean = 0;  // NaN for none
  double sd = 0;    // n - 1; NaN for fewer than two
};
// Two passes in double. Throws std::invalid_argument, with the index, for a NaN or infinite value.
Moments moments(std::span<const double> values);

// The value at share `share` of sorted values, in proportion between two neighbours (type 7 of
// Hyndman & Fan 1996). NaN for none.
double linear_quantile(std::span<const double> sorted, double share);

// The two score distributions at a glance.
struct ScoreSummary {
  Moments genuine;
  Moments impostor;
  // d' = (mean genuine - mean impostor) / sqrt((sd genuine^2 + sd impostor^2) / 2), signed; NaN
  // where either has fewer than two scores or both have sd 0 (Green & Swets 1966; Daugman 2003).
  double dprime = 0;
};
// Throws std::invalid_argument as Comparisons does.
ScoreSummary summarize(std::span<const double> scores, std::span<const std::uint8_t> labels);

// Counts by score, for plots. Bin k is [edges[k], edges[k+1]), the last one closed.
struct ScoreHistogram {
  std::vector<double> edges;  // bins + 1, equally spaced from the lowest to the highest score
  std::vector<std::int64_t> genuine;
  std::vector<std::int64_t> impostor;
  bool operator==(const ScoreHistogram&) const = default;
};
// bins in [1, 1,000,000].
ScoreHistogram histogram(std::span<const double> scores, std::span<const std::uint8_t> labels,
                         int bins = 100);
// The same for scores that `for_each` visits one by one, in two passes, so that they need not be
// stored in an array.
using ScoreVisitor = std::function<void(double score, bool genuine)>;
ScoreHistogram histogram(const std::function<void(const ScoreVisitor&)>& for_each, int bins);

}  // namespace facebench
