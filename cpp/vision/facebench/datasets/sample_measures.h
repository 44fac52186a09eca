#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/registry.h"
#include "facebench/datasets/pack.h"

namespace facebench {

// Qualities of samples that a pack gives without a further network; higher = better.
struct SampleMeasure {
  std::string name;
  std::string doc;
  std::string source;
  // NaN where it is undefined.
  double (*value)(const Pack& pack, std::int64_t index);
};
const Table<SampleMeasure>& sample_measures();

// One value a sample of the pack, NaN where the sample failed. Throws std::invalid_argument for an
// unknown measure (did you mean).
std::vector<double> measure_samples(const Pack& pack, std::string_view measure,
                                    const Job& job = {});

}  // namespace facebench
