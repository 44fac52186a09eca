#include "facebench/reports/escape.h"

#include <fmt/format.h>

#include <algorithm>

#include "facebench/core/numbers.h"
#include "facebench/core/utf8.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return printable(line);
}

bool is_one_of(char c, std::string_view characters) {
  return characters.find(c) != std::string_view::npos;
}

bool is_formula(const std::string& field) {
  if (field.empty() || !is_one_of(field[0], "=+-@\t\r\n")) return false;
  return !number_of(field);
}

}  // namespace

std::string escape_markdown(std::string_view text) {
  const std::string line = on_one_line(text);
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i], next = i + 1 < line.size() ? line[i + 1] : '\0';
    // A link needs what follows the bracket, a reference to a character a letter or number sign.
    const bool link = c == ']' && is_one_of(next, "([:");
    const bool reference =
        c == '&' && (next == '#' || (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z'));
    if (is_one_of(c, "|\\`*<>") || link || reference) out += '\\';
    out += c;
  }
  return out;
}

std::string escape_latex(std::string_view text) {
  std::string out;
  for (const char c : on_one_line(text)) {
    if (c == '\\')
      out += "\\textbackslash{}";
    else if (c == '~')
      out += "\\textasciitilde{}";
    else if (c == '^')
      out += "\\textasciicircum{}";
    else {
      if (is_one_of(c, "&%$#_{}")) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string spreadsheet_record(const std::vector<std::string>& fields) {
  std::vector<std::string> safe;
  for (const std::string& field : fields)
    safe.push_back(fmt::format("{}{}", is_formula(field) ? "'" : "", on_one_line(field)));
  return csv_record(safe);
}

}  // namespace facebench
