#include "facebench/archives/internal/label_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "facebench/core/numbers.h"
#include "facebench/core/utf8.h"

namespace facebench {
namespace {

constexpr std::size_t kLongestPerson = 256;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) {
  text = trimmed(text);
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole_number_of(double value) {
  constexpr double beyond = 9007199254740992;  // 2^53: whole numbers from here on are not exact
  if (!(value >= 0 && value < beyond) || value != std::floor(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<LabelText> parse_label_text(std::string_view text) {
  text = trimmed(text);
  // 7.0 is what tables with a gap make of 7.
  if (const std::size_t point = text.find('.');
      point != std::string_view::npos && point > 0 &&
      text.find_first_not_of('0', point + 1) == std::string_view::npos)
    if (const auto number = whole_number(text.substr(0, point))) return LabelText{*number, {}};
  if (const auto number = whole_number(text)) return LabelText{*number, {}};
  const bool control = std::ranges::any_of(text, [](unsigned char c) { return c < ' '; });
  if (text.empty() || text.size() > kLongestPerson || control || !is_utf8(text))
    return std::nullopt;
  if (number_of(std::string(text))) return std::nullopt;  // 1.5, -1
  return LabelText{-1, std::string(text)};
}

}  // namespace facebench
