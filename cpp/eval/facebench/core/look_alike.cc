#include "facebench/core/look_alike.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "facebench/core/internal/code_point.h"
#include "facebench/core/utf8.h"

namespace facebench {
namespace {

struct LookAlike {
  std::uint32_t character;
  std::string_view letters;
};
#include "facebench/core/internal/look_alike_table.inc"

// Accents that stand alone, marks of direction, variation selectors and what has no width.
bool is_not_seen(std::uint32_t c) {
  constexpr std::pair<std::uint32_t, std::uint32_t> kUnseen[] = {
      {0x80, 0xA9},     {0xAB, 0xB1},     {0xB4, 0xB8},     {0x2B0, 0x36F},   {0x61C, 0x61C},
      {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
      {0x2000, 0x206F}, {0x20D0, 0x20FF}, {0x3000, 0x3003}, {0x3164, 0x3164}, {0xFE00, 0xFE0F},
      {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0xE0000, 0xE0FFF}};
  return std::ranges::any_of(kUnseen,
                             [&](const auto& run) { return run.first <= c && c <= run.second; });
}

void append(char c, std::string& seen) {
  if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (c == 'i' || c == '1' || c == '|') c = 'l';
  if (c == '0') c = 'o';
  if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) return;
  const char last = seen.empty() ? '\0' : seen.back();
  if (c == 'n' && last == 'r') {
    seen.back() = 'm';
  } else if (c == 'v' && last == 'v') {
    seen.back() = 'w';
  } else {
    seen.push_back(c);
  }
}

}  // namespace

std::string seen_letters(std::string_view text) {
  std::string seen;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text));
    const std::string_view sequence = text.substr(0, length);
    text.remove_prefix(length);
    const unsigned char first = static_cast<unsigned char>(sequence[0]);
    if (first < 0x80) {
      append(sequence[0], seen);
      continue;
    }
    const std::uint32_t c = length > 1 ? code_point(sequence) : 0xFFFD;
    const auto found = std::ranges::lower_bound(kLookAlikes, c, {}, &LookAlike::character);
    if (found != std::end(kLookAlikes) && found->character == c)
      for (const char letter : found->letters) append(letter, seen);
    else if (!is_not_seen(c))
      seen.push_back('?');
  }
  return seen;
}

}  // namespace facebench
