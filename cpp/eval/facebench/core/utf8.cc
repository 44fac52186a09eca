#include "facebench/core/utf8.h"

#include <fmt/format.h>

#include <cstdint>

#include "facebench/core/internal/code_point.h"

namespace facebench {

std::size_t utf8_length(std::string_view s) {
  if (s.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const auto follows = [&](std::size_t n) {
    for (std::size_t i = 1; i < n; ++i)
      if (i >= s.size() || (byte(i) & 0xC0) != 0x80) return false;
    return true;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(2) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!follows(3)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (first == 0xED && byte(1) > 0x9F) return 0;  // a surrogate
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!follows(4)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;  // above U+10FFFF
    return 4;
  }
  return 0;
}

void append_utf8(std::uint32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  constexpr std::uint32_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
  const int follow = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  out += static_cast<char>(kFirst[follow] | (c >> 6 * follow));
  for (int i = follow - 1; i >= 0; --i) out += static_cast<char>(0x80 | (c >> 6 * i & 0x3F));
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

namespace {

// Controls (U+0080 to U+009F, which some terminals obey), line and paragraph separators, marks that
// turn the direction of text round, the byte order mark, and what cannot be told from a blank or
// from nothing: blanks other than the usual one, characters of no width, the soft hyphen.
bool is_invisible(std::uint32_t point) {
  return (point >= 0x80 && point <= 0xA0) || (point >= 0x2000 && point <= 0x200F) ||
         (point >= 0x2028 && point <= 0x202F) || (point >= 0x205F && point <= 0x206F) ||
         point == 0xAD || point == 0x061C || point == 0x180E || point == 0x3000 || point == 0xFEFF;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto c = static_cast<unsigned char>(text[0]);
    const bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
    if (length == 0 || control)
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else if (const std::uint32_t point = code_point(text.substr(0, length)); is_invisible(point))
      result += fmt::format("\\u{:04x}", point);
    else
      result += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace facebench
