#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/archives/internal/tar_format.h"

namespace facebench {

// What a compressed archive holds, in memory.
struct Unfolded {
  std::string bytes;  // of the tar file, or of a zip's files after each other
  std::optional<std::vector<TarMember>> members;  // of a zip, which lists them itself
};

// Whether bytes begin as those of gzip, bzip2, xz, zstd, lz4 or a zip.
bool begins_folded(std::span<const std::byte> bytes);

// The bytes of a compressed tar file, or the regular files of a zip. gzip and xz are unfolded by
// zlib and liblzma (unfold.h), the others by libarchive, in a confined child where readers are
// confined; no other format of libarchive is read, and nothing is written to disk. Throws Error
// beginning with `where` for a damaged file, one that unfolds to more than 64 MiB and 64 times its
// own size or to more than 8 GiB, and for a zip with links, devices, passwords, or names that leave
// it or are not UTF-8.
Unfolded unfold_archive(std::span<const std::byte> bytes, std::string_view where);

}  // namespace facebench
