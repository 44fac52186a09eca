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
  // SHA-256 over the lines "HASH\n" of the encoded images, in the order in which they were written:
  // once of the source's images, once of those that were read back. Both are empty for a pack,
  // which holds pixels.
  std::string source_sha256, written_sha256;
  std::string tree_sha256;         // of a pack alone: that of PackSummary
  std::vector<std::string> notes;  // what became of order and labels, a sentence each
};

// Writes the encoded images of a data set, unchanged, into an archive of another format (see
// image_archive_writers()). The archive appears only when it is complete. If all people are called
// by numbers, these are the labels; else a label is the person's place in Dataset::label_names. The
// archive is opened again, and its counts, bytes and labels are compared. `out` may also be a pack,
// X.h5: it holds the decoded images, which must have one size; no face is detected. Throws
// std::invalid_argument for another ending and for labels that the format cannot hold; Error as
// reading does, and if what is read back differs.
ConvertSummary convert_dataset(const Dataset& dataset, const std::filesystem::path& out,
                               const ConvertOptions& options = {}, const Job& job = {});

}  // namespace facebench
