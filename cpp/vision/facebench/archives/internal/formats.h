#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "facebench/archives/archive.h"

namespace facebench {

// The rows of image_archives(), each defined in the file of its name.
ImageArchiveFormat arrow_archive();
ImageArchiveFormat bin_archive();
ImageArchiveFormat lmdb_archive();
ImageArchiveFormat lst_archive();
ImageArchiveFormat parquet_archive();
ImageArchiveFormat rec_archive();
ImageArchiveFormat tar_archive();
ImageArchiveFormat tfrecord_archive();
ImageArchiveFormat zip_archive();

// The file itself; of a folder the file `preferred` in it, else the only one with the ending.
// Throws Error where there is none or are several.
std::filesystem::path file_or_only_one(const std::filesystem::path& path,
                                       std::string_view preferred, std::string_view ending);
// "LABEL/KEY", or KEY where it has a folder or there is no label.
std::string entry_name(std::int64_t label, std::string_view key);
// The same of a person who is called by a name.
std::string entry_name(std::string_view person, std::string_view key);

}  // namespace facebench
