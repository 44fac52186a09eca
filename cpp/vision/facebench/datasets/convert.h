#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/datasets/dataset.h"

namespace facebench {

struct ConvertOptions {
  std::int64_t shard_images = 10000;

  static void describe(OptionsBuilder<ConvertOptions>& o);
};

struct ConvertSummary {
  std::vector<std::filesystem::path> files;
  std::int64_t images = 0;
  std::int64_t people = 0;
  // SHA-256 over the lines "HASH\n" of the encoded images in the order in which they were written,
  // as they came from the source, and as they were read back from what was written.
  // Empty of a pack, which holds pixels.
  std::string source_sha256, written_sha256;
  std::string tree_sha256;         // of a pack alone: that of PackSummary
  std::vector<std::string> notes;  // what became of order and labels, a sentence each
};

// The encoded images of a data set, unchanged, in an archive of another format (see
// image_archive_writers()), which appears only when it is complete. Labels are the people's numbers
// where all are called by numbers, else their places in Dataset::label_names. It is then opened
// again and everything compared: counts, bytes and labels. `out` may also be a pack, X.h5: the
// images decoded, nothing found or cut out, all of the first one's size. Throws
// std::invalid_argument for another ending and for labels that the format cannot hold; Error as
// reading does, and where what is read back differs.
ConvertSummary convert_dataset(const Dataset& dataset, const std::filesystem::path& out,
                               const ConvertOptions& options = {}, const Job& job = {});

}  // namespace facebench
