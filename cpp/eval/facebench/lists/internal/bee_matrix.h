#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace facebench {

// A matrix of the Biometric Evaluation Environment, every query with every target, as OpenBR reads
// and writes it: the lines "S2" (similarities) or "D2" (distances), target set, query set, then
// "MF ROWS COLUMNS " ("MB" for a mask), 0x12345678 in the byte order of the entries and a line end;
// the entries row by row, floats or, of a mask, bytes. Source: openbr/core/bee.cpp.
template <class Entry>  // float or std::uint8_t
struct BeeMatrix {
  bool distances = false;
  std::string target, query;          // the names of the sets
  std::size_t rows = 0, columns = 0;  // queries, targets
  std::vector<Entry> entries;
};
// Throw Error for a file of another format or length.
BeeMatrix<float> read_bee_matrix(const std::filesystem::path& path);
BeeMatrix<std::uint8_t> read_bee_mask(const std::filesystem::path& path);

// What an entry of a mask says.
enum BeeMask : std::uint8_t { bee_dont_care = 0x00, bee_non_match = 0x7f, bee_match = 0xff };

}  // namespace facebench
