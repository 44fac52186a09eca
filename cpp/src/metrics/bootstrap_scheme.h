#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "facebench/metrics/bootstrap.h"

namespace facebench {

// How often each identity is drawn in a replicate, as many draws as identities.
void draw_identities(std::int64_t seed, std::int64_t replicate, std::span<Weight> drawn);

// How a bootstrap resamples and makes its intervals.
struct BootstrapScheme {
  std::string method;
  std::string degenerate_method;
  std::int64_t units = 0;   // what is resampled, in all
  std::size_t weights = 0;  // how many weights a statistic takes
  std::function<void(std::int64_t seed, std::int64_t replicate, std::span<Weight>)> resample;
  // With a jackknife (Student's t): weights of the comparisons without group g of `groups`.
  int groups = 0;
  std::function<void(std::int64_t g, std::span<Weight>)> leave_out = {};
  bool may_be_undefined = false;  // a statistic may be NaN on the comparisons themselves
  // Replicates are curves of these, several at once.
  std::shared_ptr<const ManyComparisons> many = {};
};

// The interval of a statistic out of its value and those of the replicates (NaN = undefined), and
// of the groups left out where the scheme has any.
Interval interval_of(const Statistic& statistic, double point, std::vector<double> values,
                     std::span<const double> left_out, const BootstrapScheme& scheme, double level);

}  // namespace facebench
