#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace facebench {

// Throws Error beginning with `where` where bytes begin as those of a compressed file (gzip, bzip2,
// xz, zstd, lz4) or of another kind of archive (zip, 7z, rar), and says how to unpack it.
void refuse_compressed(std::span<const std::byte> bytes, std::string_view where);
// The same of a regular file; does nothing where there is none.
void refuse_compressed_file(const std::filesystem::path& path);

bool begins_gzip(std::span<const std::byte> bytes);

}  // namespace facebench
