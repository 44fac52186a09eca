#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/datasets/dataset.h"

namespace facebench {

struct CheckOptions {
  bool decode = true;
  bool duplicates = true;
  std::int64_t min_images = 1;
  bool listed_by_stem = true;

  static void describe(OptionsBuilder<CheckOptions>& o);
};

// A problem in a data set that can spoil a benchmark.
struct DatasetFinding {
  // missing (listed, not there), empty (zero bytes), unreadable (cannot be decoded), duplicate (the
  // same bytes as an earlier sample), too_few_images (of a person).
  std::string kind;
  std::string id;      // the sample's, or the person's name
  std::string detail;  // a sentence
};

struct DatasetReport {
  std::int64_t images = 0;  // samples that were looked at
  std::int64_t people = 0;
  std::int64_t listed = 0;               // distinct names in the lists
  std::int64_t tagged = 0;               // images whose Exif tag asks for them to be turned
  std::vector<DatasetFinding> findings;  // in the order of the samples

  std::int64_t count(std::string_view kind) const;
};

// Checks every file of a data set, and every name in `listed` (the images that the protocol's lists
// name; may be empty). Problems are returned, not thrown; throws only if `listed` is ambiguous.
DatasetReport check_dataset(const Dataset& dataset, std::span<const std::string> listed = {},
                            const CheckOptions& options = {}, const Job& job = {});

}  // namespace facebench
