#include "facebench/io/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/core/registry.h"
#include "facebench/io/file.h"

namespace facebench {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
constexpr std::string_view kBlankCharacters = " \t";

template <class Number>
bool read_whole(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end;
}

// What a message shows of a text out of a file.
std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  return printable(text.substr(0, kLongest)) + (text.size() > kLongest ? "..." : "");
}

// Cuts the bytes of a CSV file into records.
class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& name, char separator)
      : text_(text), name_(name), separator_(separator) {
    if (text_.starts_with(kBom)) text_.remove_prefix(kBom.size());
  }

  // The next record that is not a blank line; false at the end.
  bool next(std::vector<std::string>& fields, std::int64_t& line) {
    if (separator_ == kBlanks) skip_blanks();
    while (at_ < text_.size() && end_of_line()) {
      take_end_of_line();
      if (separator_ == kBlanks) skip_blanks();
    }
    if (at_ >= text_.size()) return false;
    line = line_;
    fields.clear();
    for (;;) {
      fields.push_back(separator_ == kBlanks ? word() : field());
      if (separator_ == kBlanks) skip_blanks();
      if (at_ < text_.size() &&
          (separator_ == kBlanks ? !end_of_line() : text_[at_] == separator_)) {
        if (separator_ != kBlanks) ++at_;
        continue;
      }
      if (at_ < text_.size()) take_end_of_line();
      return true;
    }
  }

 private:
  bool end_of_line() const {
    return text_[at_] == '\n' || (text_[at_] == '\r' && text_.substr(at_ + 1, 1) == "\n");
  }

  void take_end_of_line() {
    at_ += text_[at_] == '\r' ? 2 : 1;
    ++line_;
  }

  void skip_blanks() {
    while (at_ < text_.size() && kBlankCharacters.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  std::string word() {
    const std::size_t begin = at_;
    for (; at_ < text_.size() && !end_of_line() &&
           kBlankCharacters.find(text_[at_]) == std::string_view::npos;
         ++at_)
      check(text_[at_]);
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string field() {
    if (at_ < text_.size() && text_[at_] == '"') return quoted();
    std::string value;
    for (; at_ < text_.size() && text_[at_] != separator_ && !end_of_line(); ++at_) {
      const char c = text_[at_];
      if (c == '"')
        fail(at_line(name_, line_), "a double quote inside a field that does not begin with one",
             "Quote the whole field and double the quotes inside");
      check(c);
      value += c;
    }
    return value;
  }

  std::string quoted() {
    const std::int64_t begin = line_;
    std::string value;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        if (text_.substr(at_ + 1, 1) == "\"") {
          ++at_;
        } else {
          ++at_;
          if (at_ < text_.size() && text_[at_] != separator_ && !end_of_line())
            fail(at_line(name_, line_), "text follows the closing quote of a field");
          return value;
        }
      }
      if (c == '\n') ++line_;
      if (c == '\0') check(c);
      value += c;
    }
    fail(at_line(name_, begin), "a quoted field that begins here has no end");
  }

  void check(char c) const {
    if (c == '\0') fail(at_line(name_, line_), "a NUL byte: this is not a text file");
    if (c == '\r')
      fail(at_line(name_, line_), "a carriage return inside a line",
           "Convert the file's line ends to LF or CRLF");
  }

  std::string_view text_;
  const std::string& name_;
  char separator_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

}  // namespace

TextFile::TextFile(const std::filesystem::path& path, std::size_t max_line)
    : name_(path.string()), bytes_(read_file(path)) {
  cut(max_line);
}

TextFile::TextFile(std::string bytes, std::string name, std::size_t max_line)
    : name_(std::move(name)), bytes_(std::move(bytes)) {
  cut(max_line);
}

void TextFile::cut(std::size_t max_line) {
  std::string_view rest = bytes_;
  if (rest.starts_with(kBom)) rest.remove_prefix(kBom.size());
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (end != std::string_view::npos && text.ends_with('\r')) text.remove_suffix(1);
    if (text.size() > max_line)
      fail(at_line(name_, number),
           fmt::format("the line has {} bytes; at most {} are expected", text.size(), max_line));
    if (text.find('\0') != std::string_view::npos)
      fail(at_line(name_, number), "a NUL byte: this is not a text file");
    if (text.find('\r') != std::string_view::npos)
      fail(at_line(name_, number), "a carriage return inside a line",
           "Convert the file's line ends to LF or CRLF");
    lines_.push_back({number, text});
  }
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlankCharacters);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlankCharacters) - first + 1);
}

std::vector<std::string_view> split_tabs(std::string_view text) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t tab = text.find('\t');
    fields.push_back(text.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    text.remove_prefix(tab + 1);
  }
}

std::vector<std::string_view> split_whitespace(std::string_view text) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t first = text.find_first_not_of(kBlankCharacters);
    if (first == std::string_view::npos) return fields;
    text.remove_prefix(first);
    const std::size_t end = std::min(text.find_first_of(kBlankCharacters), text.size());
    fields.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::string first_names(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + printable(names[i]);
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::int64_t parse_int(std::string_view text, const Place& place, std::string_view what) {
  std::int64_t value = 0;
  if (!read_whole(text, value))
    fail(at_line(place.file, place.line),
         fmt::format("{} must be a whole number, got '{}'", what, shown(text)));
  return value;
}

double parse_double(std::string_view text, const Place& place, std::string_view what) {
  double value = 0;
  if (!read_whole(text, value) || !std::isfinite(value))
    fail(at_line(place.file, place.line),
         fmt::format("{} must be a number, got '{}'", what, shown(text)));
  return value;
}

CsvTable::CsvTable(std::string bytes, std::string name, const CsvOptions& options)
    : name_(std::move(name)), bytes_(std::move(bytes)) {
  CsvParser parser(bytes_, name_, options.separator);
  std::vector<std::string> fields;
  std::int64_t line = 0;
  while (parser.next(fields, line)) {
    if (columns_.empty()) {
      if (options.header) {
        columns_ = std::move(fields);
        continue;
      }
      for (std::size_t i = 0; i < fields.size(); ++i) columns_.push_back(std::to_string(i));
    }
    if (fields.size() != columns_.size())
      fail(at_line(name_, line),
           fmt::format("{} fields, but the first line has {}", fields.size(), columns_.size()));
    lines_.push_back(line);
    std::move(fields.begin(), fields.end(), std::back_inserter(cells_));
  }
  if (columns_.empty() && options.header)
    fail(name_, "is empty; a line of column names is expected");
}

bool CsvTable::has_column(std::string_view column) const {
  return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

std::size_t CsvTable::column(std::string_view column, std::string_view advice) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end())
    fail(name_, unknown_name_message("column", column, columns_), std::string(advice));
  if (std::find(found + 1, columns_.end(), column) != columns_.end())
    fail(name_, fmt::format("two columns are called '{}'", column));
  return static_cast<std::size_t>(found - columns_.begin());
}

const std::string& CsvTable::cell(std::size_t row, std::size_t column) const {
  if (row >= rows() || column >= columns_.size())
    throw std::out_of_range(fmt::format("{}: no cell ({}, {}) in a table of {} rows and {} columns",
                                        name_, row, column, rows(), columns_.size()));
  return cells_[row * columns_.size() + column];
}

std::int64_t CsvTable::integer(std::size_t row, std::size_t column) const {
  return parse_int(cell(row, column), place(row), columns_[column]);
}

double CsvTable::number(std::size_t row, std::size_t column) const {
  return parse_double(cell(row, column), place(row), columns_[column]);
}

CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  return CsvTable(read_file(path), path.string(), options);
}

std::string csv_record(const std::vector<std::string>& fields, char separator) {
  std::string record;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) record += separator;
    // A lone empty field would otherwise be a blank line, which readers pass over, and a byte order
    // mark the file's own.
    const bool quote = fields[i].find_first_of("\"\r\n") != std::string::npos ||
                       fields[i].find(separator) != std::string::npos ||
                       fields[i].starts_with(kBom) || (fields.size() == 1 && fields[i].empty());
    if (!quote) {
      record += fields[i];
      continue;
    }
    record += '"';
    for (char c : fields[i]) record += c == '"' ? std::string("\"\"") : std::string(1, c);
    record += '"';
  }
  return record + '\n';
}

}  // namespace facebench
