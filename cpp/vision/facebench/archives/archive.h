#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/options_fwd.h"
#include "facebench/core/registry.h"

namespace facebench {

// What of an archive is read.
struct ArchiveOptions {
  std::string label;  // the column, key, feature or ending that says who it is; empty: the usual
  std::string split;  // of several; two are joined by '+'; empty: the only one

  static void describe(OptionsBuilder<ArchiveOptions>& o);
};

// Image files, still encoded (the bytes of JPEG files, of PNG files and so on), by index in one
// archive. Files
// are mapped where that is possible, and nothing is unpacked to disk. All calls are safe from
// several threads at once; an index out of range is std::out_of_range.
class ImageArchive {
 public:
  virtual ~ImageArchive() = default;

  virtual std::int64_t size() const = 0;
  // Unique in the archive and the same each time it is opened, "LABEL/KEY" where entries have
  // labels and their names have no folder. Throws Error as label() does.
  virtual std::string name(std::int64_t index) const = 0;
  // The person's number, not below 0; -1 = the archive has none. Checks the entry's frame: throws
  // Error naming file, record and byte where the entry is damaged, or its label is neither a whole
  // number from 0 on nor a name.
  virtual std::int64_t label(std::int64_t index) const = 0;
  // What the person is called: a name, or the number as text; empty = the archive does not say.
  // Throws Error as label() does.
  virtual std::string person(std::int64_t index) const;
  // Where a label could be, "its columns are image, identity"; empty where there is nothing to say.
  virtual std::string label_places() const { return {}; }
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
  std::shared_ptr<const ImageArchive> (*open)(const std::filesystem::path& path,
                                              const ArchiveOptions& options);
  bool takes_label = false, takes_split = false;  // of ArchiveOptions
};

// rec, bin, tar, lmdb, tfrecord, parquet, arrow (table_archive.h), zip, lst.
const Table<ImageArchiveFormat>& image_archives();
// The format of a path; null where it is none of them (a folder of images, say).
const ImageArchiveFormat* find_image_archive(const std::filesystem::path& path);
// Opens it, in the named format or (empty) that of its path. Throws Error where the path is no
// archive that is read, or is damaged; std::invalid_argument for options that the format does not
// take.
std::shared_ptr<const ImageArchive> open_image_archive(const std::filesystem::path& path,
                                                       const ArchiveOptions& options = {},
                                                       std::string_view format = {});

}  // namespace facebench
