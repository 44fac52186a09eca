#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace facebench {

// The bytes that a gzip (several members too) or xz file holds. Encoded images hardly shrink, so
// that a file which unfolds to more than 64 MiB and 64 times its own size, or to more than 8 GiB,
// is refused as a bomb. Throws Error beginning with `where` for that and for a damaged file.
std::string unfold_gzip(std::span<const std::byte> bytes, std::string_view where);
std::string unfold_xz(std::span<const std::byte> bytes, std::string_view where);

}  // namespace facebench
