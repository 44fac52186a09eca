// Hugging Face's data sets of images: tables with an image and a label in each row.

#include "facebench/archives/table_archive.h"

#include <system_error>

#include "facebench/archives/internal/formats.h"
#include "facebench/core/error.h"
#include "facebench/io/file.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

TableArchiveOpener& opener() {
  static TableArchiveOpener set;
  return set;
}

std::shared_ptr<const ImageArchive> open_table(const fs::path& path,
                                               const ArchiveOptions& options) {
  if (opener()) return opener()(path, options);
  fail(path.string(), "Parquet and Arrow files are read by the Python package, with pyarrow",
       "Convert the file there:  facebench data convert FILE --out x.rec");
}

bool holds_table(const fs::path& folder, std::string_view ending) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (has_ending(it->path(), ending)) return true;
  return false;
}

// The file itself, a folder that holds one, the Hub's layout (data/), or what save_to_disk writes
// of several splits.
bool has_table(const fs::path& path, std::string_view ending) {
  if (has_ending(path, ending) || holds_table(path, ending) || holds_table(path / "data", ending))
    return true;
  std::error_code error;
  if (ending != ".arrow" || !fs::is_regular_file(path / "dataset_dict.json", error)) return false;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (holds_table(it->path(), ending)) return true;
  return false;
}

}  // namespace

void set_table_archive_opener(TableArchiveOpener set) { opener() = std::move(set); }

ImageArchiveFormat parquet_archive() {
  return {"parquet",
          "Hugging Face's .parquet with a column of images, or a folder of them (pyarrow)",
          [](const fs::path& path) { return has_table(path, ".parquet"); },
          open_table,
          true,
          true};
}

ImageArchiveFormat arrow_archive() {
  return {"arrow",
          "the same as Arrow IPC, .arrow, as save_to_disk writes it (pyarrow)",
          [](const fs::path& path) { return has_table(path, ".arrow"); },
          open_table,
          true,
          true};
}

}  // namespace facebench
