#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace facebench {

// One MATLAB array. Order is MATLAB's: the first index runs fastest.
struct MatArray {
  enum class Kind { numbers, text, cell, structure, other };
  Kind kind = Kind::other;  // other (objects, sparse and complex arrays, ...): not read
  std::vector<std::int64_t> shape;
  std::vector<double> numbers;  // every numeric class, where double holds the value exactly
  std::string text;             // one row of characters, UTF-8
  std::vector<MatArray> cells;  // of a structure: the fields of its first element, of its second
  std::vector<std::string> fields;  // their names
};

// The variables of a MAT file of version 5 to 7 (plain or compressed, either byte order): numeric
// arrays, rows of characters, cell arrays and structures of them. Version 7.3 is HDF5 and refused
// by name. Throws Error with the byte offset where the file is cut short or damaged. Source:
// MathWorks, "MAT-File Format", the level 5 format.
std::map<std::string, MatArray> read_mat5(const std::filesystem::path& path);
std::map<std::string, MatArray> parse_mat5(std::span<const std::byte> bytes, std::string_view name);

// The same back: a MAT file of version 5, not compressed, little-endian, numbers as double. Throws
// std::invalid_argument for arrays whose shape and content disagree and for the kind `other`.
std::string mat5_bytes(const std::map<std::string, MatArray>& variables);

// Arrays to write: a row of characters, and cells in rows and columns.
MatArray mat_text(std::string text);
MatArray mat_cells(std::vector<std::int64_t> shape, std::vector<MatArray> cells);

// A two-dimensional cell array of texts as rows. Throws Error naming `where` where it is not one.
std::vector<std::vector<std::string>> mat_text_rows(const MatArray& array, std::string_view where);

}  // namespace facebench
