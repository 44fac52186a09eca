#pragma once

#include <string>
#include <string_view>

namespace facebench {

// Latin-1 as UTF-8. Latin-1 is the first 256 code points.
inline std::string from_latin_1(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      result += c;
    } else {
      result += static_cast<char>(0xC0 | byte >> 6);
      result += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return result;
}

}  // namespace facebench
