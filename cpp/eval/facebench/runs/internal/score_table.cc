#include "facebench/runs/internal/score_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/io/file.h"
#include "facebench/trials/trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// Numbers with a decimal comma get a point, of the same length. Returns how many there are; a table
// that has numbers with points, too, stays as it is. Throws Error where all commas can separate
// thousands: what they mean is not known.
std::int64_t decimal_commas_to_points(std::string& bytes, char separator, const std::string& name) {
  std::vector<std::size_t> commas;
  bool points = false, thousands = true;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end =
        std::min(bytes.find_first_of(std::string{separator, '\n'}, at), bytes.size());
    const std::string_view text = trim(std::string_view(bytes).substr(at, end - at));
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos) {
      points = points || (text.find('.') != std::string_view::npos && number_of(text));
    } else if (std::string with_point(text); number_of(with_point.replace(comma, 1, "."))) {
      commas.push_back(static_cast<std::size_t>(text.data() - bytes.data()) + comma);
      const std::string_view whole =
          text.substr(text.starts_with('-'), comma - text.starts_with('-'));
      thousands =
          thousands && text.size() - comma == 4 && whole.size() <= 3 && !whole.starts_with('0');
    }
    at = end + 1;
  }
  // Beside points a comma is a mistake of a row, which its reader names.
  if (commas.empty() || points) return 0;
  if (thousands)
    fail(name, fmt::format("each comma of its {} numbers can separate thousands", commas.size()),
         "Write numbers with a point and without separators: 0.5 for 0,5 and 1234 for 1,234.");
  for (const std::size_t comma : commas) bytes[comma] = '.';
  return static_cast<std::int64_t>(commas.size());
}

}  // namespace

ScoreTable score_table(const fs::path& path, bool header) {
  std::string bytes = read_file(path);
  // Remarks become empty lines, so that the numbers of the lines stay.
  std::string kept;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size() - 1) + 1;
    kept += bytes[at] == '#' ? "\n" : bytes.substr(at, end - at);
    at = end;
  }
  bytes = std::move(kept);
  const std::string_view first = std::string_view(bytes).substr(0, bytes.find('\n'));
  char separator = kBlanks;
  for (const char c : {',', ';', '\t'})
    if (separator == kBlanks && first.find(c) != std::string_view::npos) separator = c;
  // "img1;img2;0,53": where lines have semicolons, commas do not separate.
  if (first.find(';') != std::string_view::npos) separator = ';';
  std::int64_t commas = 0;
  if (separator == ';' || separator == '\t')
    commas = decimal_commas_to_points(bytes, separator, path.string());
  return {CsvTable(std::move(bytes), path.string(), {separator, header}), commas};
}

void note_decimal_commas(const ScoreTable& table, TrialSet& set) {
  if (table.decimal_commas > 0)
    set.notes.push_back(
        fmt::format("{} numbers have a decimal comma: 0,5 is read as 0.5.", table.decimal_commas));
}

}  // namespace facebench
