#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace facebench {

// The length of the UTF-8 sequence that `text` begins with, 0 where there is none that is valid
// (overlong forms, surrogates and values above U+10FFFF are not).
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

// For messages: bytes that are not UTF-8, and control characters other than line ends and tabs,
// become \xNN; further controls, line separators and marks of direction become \uNNNN. Text from a
// file can then neither control a terminal nor be refused by Python.
std::string printable(std::string_view text);

}  // namespace facebench
