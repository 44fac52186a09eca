#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/utf8.h"

namespace facebench {

// A place in a text file, for messages.
struct Place {
  std::string_view file;
  std::int64_t line = 0;  // from 1
};

struct TextLine {
  std::int64_t number = 0;  // from 1
  std::string_view text;    // without its line end
};

// A text file cut into lines. A byte order mark and CRLF line ends, which some official lists have,
// are removed. The last line counts whether or not a line end follows.
class TextFile {
 public:
  // Throws Error for a file that cannot be read, a NUL byte, a carriage return that does not end a
  // line, or a line longer than `max_line` bytes.
  explicit TextFile(const std::filesystem::path& path, std::size_t max_line = 1 << 20);
  // The same for bytes in memory; messages call it `name`.
  TextFile(std::string bytes, std::string name, std::size_t max_line = 1 << 20);
  // The lines point into the bytes.
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  const std::string& name() const { return name_; }
  // As they were in the file (what a hash of the list covers).
  const std::string& bytes() const { return bytes_; }
  const std::vector<TextLine>& lines() const { return lines_; }
  Place place(const TextLine& line) const { return {name_, line.number}; }

 private:
  void cut(std::size_t max_line);

  std::string name_, bytes_;
  std::vector<TextLine> lines_;
};

// Without blanks (space, tab) at both ends.
std::string_view trim(std::string_view text);
// Every tab separates two fields, so fields may be empty; an empty text is one empty field.
std::vector<std::string_view> split_tabs(std::string_view text);
// Fields between runs of spaces and tabs; none is empty.
std::vector<std::string_view> split_whitespace(std::string_view text);

// The first of the names: "a, b, c and 4 more".
std::string first_names(const std::vector<std::string>& names, std::size_t most = 3);

// The whole text as a number, else Error "FILE:LINE: WHAT must be a whole number, got 'TEXT'". No
// blanks, no plus sign, no hexadecimal; out of range is refused; parse_double refuses inf and nan.
std::int64_t parse_int(std::string_view text, const Place& place, std::string_view what = "value");
double parse_double(std::string_view text, const Place& place, std::string_view what = "value");

inline constexpr char kBlanks = '\0';

struct CsvOptions {
  char separator = ',';  // kBlanks: any run of spaces and tabs, quotes mean nothing
  bool header = true;    // the first record names the columns; else they are "0", "1", ...
};

// Comma-separated values as RFC 4180 has them: fields in double quotes may hold separators, line
// ends and doubled quotes. Line ends LF or CRLF, mixed too. Empty cells are allowed, blank lines
// are skipped, and a record with another number of fields than the first is an Error.
class CsvTable {
 public:
  CsvTable(std::string bytes, std::string name, const CsvOptions& options = {});

  const std::string& name() const { return name_; }
  const std::string& bytes() const { return bytes_; }
  std::size_t rows() const { return lines_.size(); }
  const std::vector<std::string>& columns() const { return columns_; }
  bool has_column(std::string_view column) const;
  // The number of a column. Throws Error naming the file and the columns that exist, with the
  // advice, and where the name is there twice.
  std::size_t column(std::string_view column, std::string_view advice = "") const;

  // Throws std::out_of_range.
  const std::string& cell(std::size_t row, std::size_t column) const;
  // Where the row begins in the file.
  Place place(std::size_t row) const { return {name_, lines_.at(row)}; }
  std::int64_t integer(std::size_t row, std::size_t column) const;  // Error
  double number(std::size_t row, std::size_t column) const;         // Error

 private:
  std::string name_, bytes_;
  std::vector<std::string> columns_, cells_;
  std::vector<std::int64_t> lines_;
};

CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

// One record, quoted where needed, ending in LF.
std::string csv_record(const std::vector<std::string>& fields, char separator = ',');

}  // namespace facebench
