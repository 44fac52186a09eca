#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/io/json.h"
#include "facebench/metrics/bootstrap.h"

namespace facebench {

// How much of a number's uncertainty comes from people, images, training, detector and crop.

struct VarianceSource {
  std::string name;  // people, images, training, detector, crop
  double sd = 0;     // NaN where it is undefined
  // Of the sum of the variances; none for images, whose draw is a part of that of people.
  std::optional<double> share;
  std::vector<double> values;  // of the runs that differ in it, the first run's before them
};

struct VarianceBudget {
  std::string protocol, track, metric;
  double value = 0;  // of the first run
  std::vector<VarianceSource> sources;
};

// `runs`: the first is the one whose number is looked at; each other holds the same comparisons and
// differs from it in one of detector, crop and model. `metric`: accuracy, auc, eer or tar@far=X;
// unset: the first of them that the run has. The sd of people and of images (each drawn again as if
// it were a person of its own) is half of a dyadic bootstrap's interval at 68.27 %; that of runs
// the sample's. Throws std::invalid_argument for a number that the run does not have or that cannot
// be drawn again, Error for runs that are not comparable or do not differ in one part.
VarianceBudget variance_budget(std::span<const std::filesystem::path> runs,
                               const std::optional<std::string>& metric = {},
                               const std::optional<std::string>& track = {},
                               const BootstrapOptions& options = {}, const Job& job = {});

Json variance_budget_json(const VarianceBudget& budget);

}  // namespace facebench
