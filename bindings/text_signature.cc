#include "text_signature.h"

#include <string_view>
#include <vector>

namespace facebench {
namespace {

// The position of the bracket that closes the one at `open`, or npos.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if ((c == ')' || c == ']' || c == '}') && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

// `text` cut at each `mark` that stands in no bracket and no quotes.
std::vector<std::string_view> cut(std::string_view text, std::string_view mark) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      i = closing(text, i);
      if (i == std::string_view::npos) break;
    } else if (text.substr(i).starts_with(mark)) {
      parts.push_back(text.substr(begin, i - begin));
      i += mark.size() - 1;
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

bool is_literal(std::string_view text) {
  if (text == "None" || text == "True" || text == "False") return true;
  if (text.empty()) return false;
  if (text.front() == '\'' || text.front() == '"') return true;
  if (text.find_first_of("0123456789") > 1) return false;  // "inf", "nan", names
  return text.find_first_not_of("0123456789.e+-") == std::string_view::npos;
}

}  // namespace

std::string text_signature(const std::string& docstring) {
  const std::string_view line = std::string_view(docstring).substr(0, docstring.find('\n'));
  const std::size_t open = line.find('(');
  if (open == std::string_view::npos) return "";
  const std::size_t close = closing(line, open);
  if (close == std::string_view::npos) return "";
  const std::string_view inside = line.substr(open + 1, close - open - 1);
  std::string out = "(";
  for (std::string_view parameter : cut(inside, ", ")) {
    if (parameter.empty()) continue;
    const std::string_view name = parameter.substr(0, parameter.find_first_of(": ="));
    const auto parts = cut(parameter, " = ");
    if (out.size() > 1) out += ", ";
    out += name;
    if (parts.size() == 2)
      (out += "=") += is_literal(parts[1]) ? std::string(parts[1]) : std::string("...");
  }
  return out + ")";
}

}  // namespace facebench
