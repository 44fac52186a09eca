#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "facebench/trials/blemishes.h"
#include "facebench/trials/trials.h"

namespace facebench {

// A list of whole numbers >= 0, a row a line and no header, of which there are too many for a
// CsvTable: the file is mapped and read once, and nothing but the caller's numbers is kept. Line
// ends, blanks and a byte order mark are treated and counted as ListFile does.
struct NumberRows {
  std::string role;      // what the manifest calls the list
  std::size_t columns;   // in each row, at most 8
  char separator = ' ';  // ' ': any run of blanks
  // Called for each row in order, with the number of its line.
  std::function<void(std::span<const std::int64_t> row, std::int64_t line)> take;
};

// Throws Error with file and line for another number of columns and for what is not a whole number
// of at most 18 digits.
TrialList read_number_rows(const std::filesystem::path& path, const NumberRows& rows,
                           Blemishes& blemishes);

}  // namespace facebench
