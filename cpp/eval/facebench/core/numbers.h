#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace facebench {

// The whole text as a finite number: no blanks, no plus sign, no hexadecimal; no value for anything
// else. The decimal point is a point, whatever the locale of the process.
std::optional<double> number_of(std::string_view text);

// The letters A to Z in lower case, every other byte as it is, whatever the locale of the process.
std::string lower_ascii(std::string_view text);

// Whether it is a space, tab, line feed, vertical tab, form feed or carriage return.
constexpr bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace facebench
