#include "facebench/core/compared_name.h"

#include <algorithm>
#include <cstdint>

#include "facebench/core/internal/code_point.h"
#include "facebench/core/nfc.h"
#include "facebench/core/utf8.h"

namespace facebench {
namespace {

bool is_blank(std::uint32_t c) {
  return c == 0xA0 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool has_no_width(std::uint32_t c) {
  return c == 0xAD || c == 0x200B || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         c == 0x2060 || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

std::string with_usual_blanks(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text), 1);
    const std::string_view character = text.substr(0, length);
    const std::uint32_t c = utf8_length(text) > 1 ? code_point(character) : 0;
    if (is_blank(c))
      result += ' ';
    else if (!has_no_width(c))
      result += character;
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace

std::string compared_name(std::string_view name) {
  const bool ascii =
      std::ranges::none_of(name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  std::string text = ascii ? std::string(name) : nfc(with_usual_blanks(name));
  std::ranges::replace(text, '\\', '/');
  constexpr const char* kBlanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text = text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
  while (text.starts_with("./"))
    text.erase(0, std::min(text.find_first_not_of('/', 1), text.size()));
  return text;
}

}  // namespace facebench
