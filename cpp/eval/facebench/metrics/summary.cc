#include "facebench/metrics/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/internal/measures.h"

namespace facebench {

Moments moments(std::span<const double> values) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Moments m{static_cast<std::int64_t>(values.size()), nan, nan};
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      throw std::invalid_argument(
          fmt::format("value [{}] is {}; values must be finite", i, values[i]));
    sum += values[i];
  }
  if (values.empty()) return m;
  // Equal values have no spread at all: the rounding of their sum must not give them one.
  if (std::ranges::all_of(values, [&](double v) { return v == values[0]; })) {
    m.mean = values[0];
    if (values.size() > 1) m.sd = 0;
    return m;
  }
  m.mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const double v : values) squares += (v - m.mean) * (v - m.mean);
  if (values.size() > 1) m.sd = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return m;
}

double linear_quantile(std::span<const double> sorted, double share) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

ScoreSummary summarize(std::span<const double> scores, std::span<const std::uint8_t> labels) {
  check_comparisons(scores, labels);
  std::vector<double> by_label[2];
  for (std::size_t i = 0; i < scores.size(); ++i) by_label[labels[i]].push_back(scores[i]);
  ScoreSummary s{moments(by_label[1]), moments(by_label[0])};
  const double variance = (s.genuine.sd * s.genuine.sd + s.impostor.sd * s.impostor.sd) / 2;
  s.dprime = variance > 0 ? (s.genuine.mean - s.impostor.mean) / std::sqrt(variance)
                          : std::numeric_limits<double>::quiet_NaN();
  return s;
}

ScoreHistogram histogram(std::span<const double> scores, std::span<const std::uint8_t> labels,
                         int bins) {
  check_comparisons(scores, labels);
  return histogram(
      [&](const ScoreVisitor& visit) {
        for (std::size_t i = 0; i < scores.size(); ++i) visit(scores[i], labels[i] != 0);
      },
      bins);
}

ScoreHistogram histogram(const std::function<void(const ScoreVisitor&)>& for_each, int bins) {
  if (bins < 1 || bins > 1'000'000)
    throw std::invalid_argument(fmt::format("{} bins; allowed are 1 to 1000000", bins));
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for_each([&](double score, bool) {
    low = std::min(low, score);
    high = std::max(high, score);
  });
  if (low > high) throw std::invalid_argument("no comparisons");
  if (low == high) {  // one value: a bin of some width around it
    const double half = std::max(0.5, std::abs(low) * 1e-6);
    low -= half;
    high += half;
  }
  ScoreHistogram h;
  h.edges.resize(bins + 1);
  for (int k = 0; k <= bins; ++k) {
    const double share = static_cast<double>(k) / bins;
    h.edges[k] = low * (1 - share) + high * share;
  }
  h.genuine.resize(bins);
  h.impostor.resize(bins);
  for_each([&](double score, bool genuine) {
    const auto after = std::upper_bound(h.edges.begin(), h.edges.end(), score);
    const auto bin = std::clamp<std::ptrdiff_t>(after - h.edges.begin() - 1, 0, bins - 1);
    ++(genuine ? h.genuine : h.impostor)[bin];
  });
  return h;
}

}  // namespace facebench
