#pragma once

// The zlib streams inside of files of several kinds.

#include <cstddef>
#include <span>
#include <vector>

namespace facebench {

struct Inflated {
  std::vector<std::byte> bytes;
  bool whole = false;  // false: damaged, cut off, or more than asked for
};

// What a zlib stream of less than 4 GiB holds. Stops soon after more than `most` bytes, so that a
// small stream cannot ask for gigabytes.
Inflated inflate_zlib(std::span<const std::byte> packed, std::size_t most);

}  // namespace facebench
