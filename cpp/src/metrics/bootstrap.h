#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/paired.h"

// What the bootstraps of lists and of dense comparisons share.
namespace facebench {

// How often each identity is drawn in a replicate, as many draws as identities.
void draw_identities(std::int64_t seed, std::int64_t replicate, std::span<Weight> drawn);

// How a bootstrap resamples and makes its intervals.
struct BootstrapScheme {
  std::string method;
  std::string degenerate_method;
  std::int64_t units = 0;  // what is resampled, in all
  std::function<void(std::int64_t replicate, std::span<Weight> weights)> resample;
  // With a jackknife (Student's t): weights of the comparisons without group g of `groups`.
  int groups = 0;
  std::function<void(std::int64_t g, std::span<Weight> weights)> leave_out;
};

// Of the vertex bootstrap, without what it resamples.
inline BootstrapScheme vertex_scheme(std::int64_t identities) {
  return {"vertex_bootstrap", "wilson_over_identities", identities, {}, 0, {}};
}

// The interval of a statistic out of its value and those of the replicates (NaN = undefined), and
// of the groups left out where the scheme has any.
Interval interval_of(const Statistic& statistic, double point, std::vector<double> values,
                     std::span<const double> left_out, const BootstrapScheme& scheme, double level);

// The same of the vertex bootstrap.
Interval vertex_interval(const Statistic& statistic, double point, std::vector<double> replicates,
                         std::int64_t identities, double level);

// The differences of statistics a[k] and b[k] that saw the same replicates.
std::vector<PairedComparison> paired_differences(const Replicates& a, const Replicates& b,
                                                 double level);

}  // namespace facebench
