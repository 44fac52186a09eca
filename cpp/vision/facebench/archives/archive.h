#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"

namespace facebench {

// Image files, still encoded (the bytes of JPEG files, of PNG files and so on), by index in one archive. Files
// are mapped where that is possible, and nothing is unpacked to disk. All calls are safe from
// several threads at once; an index out of range is std::out_of_range.
class ImageArchive {
 public:
  virtual ~ImageArchive() = default;

  virtual std::int64_t size() const = 0;
  // Unique in the archive and the same each time it is opened, "LABEL/KEY" where entries have
  // labels and their names have no folder. Throws Error as label() does.
  virtual std::string name(std::int64_t index) const = 0;
  // The person's number, not below 0; -1 = the archive does not say. Checks the entry's frame:
  // throws Error naming file, record and byte where the entry is damaged or has no whole number.
  virtual std::int64_t label(std::int64_t index) const = 0;
  // The encoded image. Throws Error as label() does, and for an empty image.
  virtual std::string read(std::int64_t index) const = 0;
  // "FILE: record 17 (byte 1234)", for messages.
  virtual std::string where(std::int64_t index) const = 0;
  // What the archive says about itself that a reader should know, a sentence each.
  virtual std::vector<std::string> notes() const { return {}; }
};

// A format of archives.
struct ImageArchiveFormat {
  std::string name;
  std::string doc;
  // Whether a path is meant as one: by its ending, and by its first bytes where endings are shared.
  bool (*recognises)(const std::filesystem::path& path);
  // Throws Error for a file that is damaged, or is of another format.
  std::shared_ptr<const ImageArchive> (*open)(const std::filesystem::path& path);
};

// rec, bin, tar, lmdb, tfrecord, parquet, arrow (table_archive.h).
const Table<ImageArchiveFormat>& image_archives();
// The format of a path; null where it is none of them (a folder of images, say).
const ImageArchiveFormat* find_image_archive(const std::filesystem::path& path);
// Opens it. Throws Error where the path is no archive that is read, or is damaged.
std::shared_ptr<const ImageArchive> open_image_archive(const std::filesystem::path& path);

}  // namespace facebench
