#include "facebench/timing/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "facebench/core/options.h"
#include "facebench/core/random.h"
#include "facebench/metrics/summary.h"

namespace facebench {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TimeInterval percentiles(const std::vector<double>& values, double level) {
  return {quantile_of(values, (1 - level) / 2), quantile_of(values, (1 + level) / 2)};
}

void bootstrap(std::span<const double> times, const SeriesOptions& options,
               SeriesSummary& summary) {
  const std::size_t n = times.size();
  const auto block = static_cast<std::size_t>(std::ceil(std::cbrt(static_cast<double>(n)) - 1e-9));
  std::vector<double> means, medians, drawn(n);
  for (std::int64_t r = 0; r < options.replicates; ++r) {
    Random random(options.seed, "times", {static_cast<std::uint64_t>(r)});
    std::size_t filled = 0;
    while (filled < n) {
      std::size_t at = random.below(n);
      for (std::size_t k = 0; k < block && filled < n; ++k, at = (at + 1) % n)
        drawn[filled++] = times[at];
    }
    means.push_back(moments(drawn).mean);
    medians.push_back(quantile_of(drawn, 0.5));
  }
  summary.mean_interval = percentiles(means, options.level);
  summary.median_interval = percentiles(medians, options.level);
}

}  // namespace

void SeriesOptions::describe(OptionsBuilder<SeriesOptions>& o) {
  o.name("SeriesOptions", "How a series of times is summed up.");
  o.field("skip", &SeriesOptions::skip, "first iterations that are reported apart", 0, 1e9);
  o.field("level", &SeriesOptions::level, "level of the intervals", 0.5, 0.9999);
  o.field("replicates", &SeriesOptions::replicates, "bootstrap replicates", 10, 1e6);
  o.field("seed", &SeriesOptions::seed, "of the bootstrap");
}

double quantile_of(std::span<const double> values, double q) {
  if (values.empty()) throw std::invalid_argument("quantile_of: there are no values");
  if (!(q >= 0 && q <= 1)) throw std::invalid_argument("quantile_of: q is a share, 0 to 1");
  std::vector<double> sorted(values.begin(), values.end());
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(at);
  std::nth_element(sorted.begin(), sorted.begin() + below, sorted.end());
  const double low = sorted[static_cast<std::size_t>(below)];
  if (below + 1 == static_cast<std::ptrdiff_t>(sorted.size())) return low;
  const double high = *std::min_element(sorted.begin() + below + 1, sorted.end());
  return low + (high - low) * (at - static_cast<double>(below));
}

SeriesSummary summarize_times(std::span<const double> seconds, const SeriesOptions& options) {
  check_options(options);
  if (seconds.empty()) throw std::invalid_argument("summarize_times: there are no times");
  for (std::size_t i = 0; i < seconds.size(); ++i)
    if (!(seconds[i] >= 0) || !std::isfinite(seconds[i]))
      throw std::invalid_argument(
          fmt::format("summarize_times: time {} is {}, not a number of seconds", i, seconds[i]));
  SeriesSummary s;
  s.skipped = std::min<std::int64_t>(options.skip, static_cast<std::int64_t>(seconds.size()) - 1);
  s.first = s.skipped > 0 ? seconds[0] : kNan;
  s.skipped_mean =
      s.skipped > 0 ? moments(seconds.first(static_cast<std::size_t>(s.skipped))).mean : kNan;
  const std::span<const double> times = seconds.subspan(static_cast<std::size_t>(s.skipped));
  const Moments m = moments(times);
  s.count = m.count;
  s.mean = m.mean;
  s.sd = m.sd;
  s.median = quantile_of(times, 0.5);
  s.p95 = quantile_of(times, 0.95);
  s.low = *std::min_element(times.begin(), times.end());
  s.high = *std::max_element(times.begin(), times.end());
  s.mean_interval = s.median_interval = {kNan, kNan};
  if (times.size() > 1) bootstrap(times, options, s);
  return s;
}

double repeat_spread(std::span<const double> figures) {
  if (figures.size() < 2) return kNan;
  const auto [low, high] = std::minmax_element(figures.begin(), figures.end());
  return (*high - *low) / quantile_of(figures, 0.5);
}

double relative_half_width(const SeriesSummary& summary) {
  return (summary.mean_interval.high - summary.mean_interval.low) / 2 / summary.mean;
}

}  // namespace facebench
