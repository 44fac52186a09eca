#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "facebench/trials/blemishes.h"

namespace facebench {

// A square matrix of numbers from 0 to 255, as text.
struct MaskMatrix {
  std::vector<std::uint8_t> values;  // (size, size), row-major
  std::vector<std::int64_t> line;    // of each row, from 1
  std::string sha256;
};

// Reads `size` lines of `size` numbers between blanks; whole numbers may be written as decimals
// (1.0000e+00). Blank lines, a byte order mark, CRLF line ends and entries below the diagonal that
// differ from those above are counted. The file is mapped, not loaded. Throws Error with file and
// line where a row is too short or too long, a number is malformed, no whole number or out of
// range, and where there are too few or too many rows.
MaskMatrix read_mask_matrix(const std::filesystem::path& path, std::int64_t size,
                            Blemishes& blemishes);

}  // namespace facebench
