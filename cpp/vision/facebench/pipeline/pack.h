#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/datasets/pack.h"
#include "facebench/pipeline/preparation.h"

namespace facebench {

// From a data set to a pack: how.
struct PackRequest {
  PreparationOptions preparation;
  PackOptions pack;
  ArchiveOptions archive;
  std::filesystem::path exclude;  // people and samples to leave out (io/exclusion.h)
  std::filesystem::path only;     // those that alone stay
  std::int64_t skip_damaged = 0;

  static void describe(OptionsBuilder<PackRequest>& o);
};

// Reads a data set of dataset_readers() and packs it (pack_dataset), or a part of it (pack_shard).
// Throws as they do.
PackSummary pack(const PackRequest& request, std::string_view dataset,
                 const std::filesystem::path& root, const std::filesystem::path& out,
                 const Job& job = {});
PackSummary pack(const PackRequest& request, std::string_view dataset,
                 const std::filesystem::path& root, const Shard& shard,
                 const std::filesystem::path& out, const Job& job = {});

}  // namespace facebench
