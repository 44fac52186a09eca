#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"

namespace facebench {

// Writes an archive of encoded images, one after the other. Nothing is seen under the archive's
// name before finish(); without it nothing stays.
class ImageArchiveWriter {
 public:
  virtual ~ImageArchiveWriter() = default;
  // Throws std::invalid_argument for a label that the format cannot hold, Error where the disk is
  // full.
  virtual void add(std::int64_t label, std::string_view image) = 0;
  // The files that are now there, the one to open first.
  virtual std::vector<std::filesystem::path> finish() = 0;
};

struct ImageArchiveTarget {
  std::filesystem::path path;
  std::int64_t images = 0;            // that will be added
  std::int64_t shard_images = 10000;  // in each shard, where the pattern does not say how many
  int height = 0;                     // of the first image, for what states it
  int width = 0;
  std::int64_t people = 0;
};

struct ImageArchiveWriterFormat {
  std::string name;  // the ending: "rec", "bin", "tar"
  std::string doc;
  bool by_person = false;  // images of one person have to follow each other
  bool labelled = true;    // whether labels are kept, or only whether a pair's are equal
  std::unique_ptr<ImageArchiveWriter> (*make)(const ImageArchiveTarget& target);
};

// rec: InsightFace's classic layout with .idx and `property`; bin: images 2 k and 2 k + 1 are a
// pair, the same person where their labels are equal; tar: webdataset shards, KEY.jpg and KEY.cls,
// the path with {000..007} (that many shards), {000..} (as many as needed), or neither (one file).
const Table<ImageArchiveWriterFormat>& image_archive_writers();
// By the ending of a path. Throws std::invalid_argument for another one.
const ImageArchiveWriterFormat& image_archive_writer_for(const std::filesystem::path& path);

}  // namespace facebench
