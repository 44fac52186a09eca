#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace facebench {

// The character that a valid UTF-8 sequence stands for; see utf8_length().
inline std::uint32_t code_point(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  std::uint32_t point = byte(0) & (0xFFu >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i) point = point << 6 | (byte(i) & 0x3Fu);
  return point;
}

}  // namespace facebench
