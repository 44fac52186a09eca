#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "facebench/archives/archive.h"

namespace facebench {

// Parquet and Arrow IPC files are read by Arrow's own library, which this one does not link. The
// Python package sets an opener that uses pyarrow; until one is set, opening such a file throws
// Error that says so. Not safe while another thread opens one.
using TableArchiveOpener = std::function<std::shared_ptr<const ImageArchive>(
    const std::filesystem::path& path, const ArchiveOptions& options)>;
void set_table_archive_opener(TableArchiveOpener opener);

}  // namespace facebench
