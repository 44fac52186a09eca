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
  enum class Kind { numbers, text, cell, other };
  Kind kind = Kind::other;  // other (structures, sparse and complex arrays, ...): not read
  std::vector<std::int64_t> shape;
  std::vector<double> numbers;  // every numeric class, where double holds the value exactly
  std::string text;             // one row of characters, UTF-8
  std::vector<MatArray> cells;
};

// The variables of a MAT file of version 5 to 7 (plain or compressed, either byte order): numeric
// arrays, rows of characters, and cell arrays of them. Version 7.3 is HDF5 and refused by name.
// Throws Error with the byte offset where the file is cut short or damaged.
// Source: MathWorks, "MAT-File Format", the level 5 format.
std::map<std::string, MatArray> read_mat5(const std::filesystem::path& path);
std::map<std::string, MatArray> parse_mat5(std::span<const std::byte> bytes, std::string_view name);

// A two-dimensional cell array of texts as rows. Throws Error naming `where` where it is not one.
std::vector<std::vector<std::string>> mat_text_rows(const MatArray& array, std::string_view where);

}  // namespace facebench
