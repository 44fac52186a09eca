#include "text_signature.h"

#include <string_view>
#include <vector>

namespace facebench {
namespace {

// The last position of the bracket or the quoted text that begins at `begin`; `begin` where neither
// does, npos where it has no end.
std::size_t end_of(std::string_view text, std::size_t begin) {
  const char first = text[begin];
  const bool quoted = first == '\'' || first == '"';
  if (!quoted && first != '(' && first != '[' && first != '{') return begin;
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (quoted ? text[i] == first : text[i] == ')' || text[i] == ']' || text[i] == '}') {
      return i;
    } else if (!quoted) {
      i = end_of(text, i);
      if (i == std::string_view::npos) return i;
    }
  }
  return std::string_view::npos;
}

// `text` cut at each `mark` that stands in no bracket and no quotes.
std::vector<std::string_view> cut(std::string_view text, std::string_view mark) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(mark)) {
      parts.push_back(text.substr(begin, i - begin));
      i += mark.size() - 1;
      begin = i + 1;
    } else if (i = end_of(text, i); i == std::string_view::npos) {
      break;
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
  const std::size_t close = end_of(line, open);
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
