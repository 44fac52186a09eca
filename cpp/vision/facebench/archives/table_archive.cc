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

std::shared_ptr<const ImageArchive> open_table(const fs::path& path) {
  if (opener()) return opener()(path);
  fail(path.string(), "Parquet and Arrow files are read by the Python package, with pyarrow",
       "Convert the file there:  facebench data convert FILE --out x.rec");
}

// The file itself, or a folder that holds one.
bool has_table(const fs::path& path, std::string_view ending) {
  if (has_ending(path, ending)) return true;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (has_ending(it->path(), ending)) return true;
  return false;
}

}  // namespace

void set_table_archive_opener(TableArchiveOpener set) { opener() = std::move(set); }

ImageArchiveFormat parquet_archive() {
  return {"parquet",
          "Hugging Face's .parquet with a column of images, or a folder of them (pyarrow)",
          [](const fs::path& path) { return has_table(path, ".parquet"); }, open_table};
}

ImageArchiveFormat arrow_archive() {
  return {"arrow", "the same as Arrow IPC, .arrow, as save_to_disk writes it (pyarrow)",
          [](const fs::path& path) { return has_table(path, ".arrow"); }, open_table};
}

}  // namespace facebench
