#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace facebench {

// A square matrix of numbers from 0 to 255, as text.
struct MaskMatrix {
  std::vector<std::uint8_t> values;  // (size, size), row-major
  std::int64_t asymmetric = 0;       // entries below the diagonal that differ from those above
  std::string sha256;
};

// Reads `size` lines of `size` numbers between blanks; whole numbers may be written as decimals
// (1.0000e+00). The file is mapped, not loaded. Throws Error with file and line where a row is too
// short or too long, a number is malformed, no whole number or out of range, and where there are
// too few or too many rows.
MaskMatrix read_mask_matrix(const std::filesystem::path& path, std::int64_t size);

}  // namespace facebench
