#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "facebench/datasets/pack.h"

namespace facebench {

// What else is done with each crop of a pack as soon as it is made, while others are being cut out:
// `take` is called for every sample that is ok, on the thread that made its crop. `worker` is below
// pack_workers(), and calls with the same worker follow each other.
struct CropReceiver {
  std::string_view stage;  // how progress calls the whole
  std::function<void(std::int64_t index, const Image& crop, int worker)> take;
};

// The threads that make the crops of a pack.
int pack_workers(const Detector* detector, const Job& job);

// pack_dataset() of pack.h with a receiver. What `take` throws ends the whole.
PackSummary pack_dataset(const Dataset& dataset, const Detector* detector,
                         std::string_view selection, const CropOptions& crop,
                         const PackOptions& options, const std::filesystem::path& out,
                         const Job& job, const CropReceiver& receiver);

}  // namespace facebench
