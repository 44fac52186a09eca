#include "facebench/archives/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "facebench/archives/internal/compression.h"
#include "facebench/archives/internal/formats.h"
#include "facebench/archives/remote.h"
#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/core/options.h"
#include "facebench/io/file.h"
#include "facebench/io/text.h"

namespace facebench {

namespace fs = std::filesystem;

fs::path file_or_only_one(const fs::path& path, std::string_view preferred,
                          std::string_view ending) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return path;
  if (fs::is_regular_file(path / preferred, error)) return path / preferred;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (has_ending(it->path(), ending)) files.push_back(it->path());
  if (files.size() == 1) return files.front();
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.filename().string());
  std::ranges::sort(names);
  fail(path.string(),
       files.empty() ? fmt::format("there is no {} file in this folder", ending)
                     : fmt::format("there are {} {} files in this folder: {}", files.size(), ending,
                                   first_names(names)),
       "Give the file that is meant.");
}

std::string entry_name(std::int64_t label, std::string_view key) {
  if (label < 0 || key.find('/') != std::string_view::npos) return std::string(key);
  return fmt::format("{}/{}", label, key);
}

void ArchiveOptions::describe(OptionsBuilder<ArchiveOptions>& o) {
  o.name("ArchiveOptions", "What of an archive is read.");
  o.field("label", &ArchiveOptions::label,
          "of an archive: the column, key, feature or ending (txt) that says who it is; default: "
          "the usual one; of a folder: the level of the people's folders, 1 or 2 (in train, test)");
  o.field("split", &ArchiveOptions::split,
          "of Parquet, Arrow and a folder of folders: which split of several, train or train+test");
}

std::string ImageArchive::person(std::int64_t index) const {
  const std::int64_t number = label(index);
  return number < 0 ? std::string() : fmt::format("{}", number);
}

std::string entry_name(std::string_view person, std::string_view key) {
  if (person.empty() || key.find('/') != std::string_view::npos) return std::string(key);
  return fmt::format("{}/{}", person, key);
}

const Table<ImageArchiveFormat>& image_archives() {
  static const Table<ImageArchiveFormat> table(
      "archive of images",
      {rec_archive(), bin_archive(), tar_archive(), lmdb_archive(), tfrecord_archive(),
       parquet_archive(), arrow_archive(), zip_archive(), lst_archive()});
  return table;
}

const ImageArchiveFormat* find_image_archive(const fs::path& path) {
  for (const ImageArchiveFormat& format : image_archives().entries())
    if (format.recognises(path)) return &format;
  return nullptr;
}

std::shared_ptr<const ImageArchive> open_image_archive(const fs::path& path,
                                                       const ArchiveOptions& options,
                                                       std::string_view format_name) {
  const ImageArchiveFormat* format =
      format_name.empty() ? find_image_archive(path) : &image_archives().at(format_name);
  const std::optional<std::string> address = remote_address(path);
  if (address) {
    constexpr std::array read = {"tar", "zip", "parquet", "arrow"};
    if (format == nullptr || std::ranges::find(read, format->name) == read.end())
      fail(*address, "is not a tar, zip, Parquet or Arrow file, which are read on object stores",
           "Copy it here first, or name what it is.");
  }
  if (format) {
    if (!options.label.empty() && !format->takes_label)
      throw std::invalid_argument(
          fmt::format("label: archives of the format {} keep labels in one place", format->name));
    if (!options.split.empty() && !format->takes_split)
      throw std::invalid_argument(
          fmt::format("split: archives of the format {} have no splits", format->name));
    try {
      return format->open(path, options);
    } catch (const Error&) {
      // Those two tell it themselves.
      if (format->name != "tar" && format->name != "zip" && format->name != "bin")
        refuse_compressed_file(path);
      throw;
    }
  }
  refuse_compressed_file(path);
  std::string known;
  for (const ImageArchiveFormat& one : image_archives().entries())
    known += (known.empty() ? "" : "; ") + one.name + ": " + one.doc;
  fail(path.string(), "is not an archive of images that is read", "Read are " + known + ".");
}

}  // namespace facebench
