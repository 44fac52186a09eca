#pragma once

#include <cstring>

namespace facebench {

// A number that lies in memory as the machine keeps it, aligned or not.
template <class T, class Byte>
T number_at(const Byte* data) {
  static_assert(sizeof(Byte) == 1);
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

}  // namespace facebench
