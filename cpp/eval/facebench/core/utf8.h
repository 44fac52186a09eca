#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace facebench {

// The length of the UTF-8 sequence that `text` begins with, 0 where there is none that is valid
// (overlong forms, surrogates and values above U+10FFFF are not).
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);
// Writes a code point of at most U+10FFFF behind `out` (half a surrogate pair is then not UTF-8).
void append_utf8(std::uint32_t c, std::string& out);

// For messages: bytes that are not UTF-8, and control characters other than line ends and tabs,
// become \xNN; further controls, line separators, marks of direction, and what looks like a blank
// or like nothing (no-break blanks, characters without a width) become \uNNNN. Text from a file can
// then neither control a terminal nor be refused by Python.
std::string printable(std::string_view text);

}  // namespace facebench
