#pragma once

#include <cstdint>
#include <span>

#include "facebench/core/options_fwd.h"

namespace facebench {

// How a series of times is summed up.
struct SeriesOptions {
  std::int64_t skip = 10;
  double level = 0.95;
  std::int64_t replicates = 1000;
  std::uint32_t seed = 0;
  static void describe(OptionsBuilder<SeriesOptions>& o);
};

struct TimeInterval {
  double low = 0;
  double high = 0;
};

// Times of iterations in seconds. What cannot be computed (from too few times) is NaN.
struct SeriesSummary {
  std::int64_t skipped = 0;  // iterations left out at the start
  double first = 0;          // the very first of them
  double skipped_mean = 0;
  std::int64_t count = 0;  // iterations that the rest rests on
  double mean = 0;
  double sd = 0;  // n - 1
  double median = 0;
  double p95 = 0;
  double low = 0;   // the fastest
  double high = 0;  // the slowest
  TimeInterval mean_interval;
  TimeInterval median_interval;
};

// The first `skip` times (warm-up: memory, caches, compilation) are left out and reported apart;
// of a series that is not longer, all but the last. The intervals are percentiles of a circular
// block bootstrap, blocks of ceil(n^(1/3)) times: neighbouring iterations resemble each other, and
// drawing them one by one would make intervals too short (Politis & Romano 1992). NaN for fewer
// than two times. Throws std::invalid_argument for no times, or one that is negative or not finite.
SeriesSummary summarize_times(std::span<const double> seconds, const SeriesOptions& options = {});

// The value below which the share q of the values lies, interpolated between neighbours (numpy's
// default). Requires values and q in [0, 1].
double quantile_of(std::span<const double> values, double q);

// (largest - smallest) / median of the repeats' own figures (medians, say): how far a repeat of the
// measurement may be off. NaN for fewer than two.
double repeat_spread(std::span<const double> figures);

// Half the interval's length over the mean: what "until the interval is narrow enough" looks at.
double relative_half_width(const SeriesSummary& summary);

}  // namespace facebench
