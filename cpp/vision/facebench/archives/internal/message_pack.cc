#include "facebench/archives/internal/message_pack.h"

namespace facebench {

bool MessagePack::big_endian(std::size_t size, std::uint64_t& value) {
  // The byte that says what follows is there still.
  if (rest_.size() < 1 + size) return false;
  value = 0;
  for (std::size_t i = 1; i <= size; ++i) value = value << 8 | static_cast<std::uint8_t>(rest_[i]);
  rest_.remove_prefix(1 + size);
  return true;
}

bool MessagePack::list(std::size_t& count) {
  if (rest_.empty()) return false;
  const auto kind = static_cast<std::uint8_t>(rest_.front());
  std::uint64_t value = kind & 0xf;
  if (kind >> 4 == 9)
    rest_.remove_prefix(1);
  else if ((kind != 0xdc && kind != 0xdd) || !big_endian(kind == 0xdc ? 2 : 4, value))
    return false;
  count = value;
  return true;
}

bool MessagePack::bytes(std::string_view& value) {
  if (rest_.empty()) return false;
  const auto kind = static_cast<std::uint8_t>(rest_.front());
  std::uint64_t size = kind & 0x1f;
  if (kind >> 5 == 5) {
    rest_.remove_prefix(1);
  } else {
    const bool known = (kind >= 0xc4 && kind <= 0xc6) || (kind >= 0xd9 && kind <= 0xdb);
    const int power = kind < 0xd0 ? kind - 0xc4 : kind - 0xd9;
    if (!known || !big_endian(std::size_t{1} << power, size)) return false;
  }
  if (size > rest_.size()) return false;
  value = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool MessagePack::whole_number(std::int64_t& value) {
  if (rest_.empty()) return false;
  const auto kind = static_cast<std::uint8_t>(rest_.front());
  std::uint64_t number = kind;
  if (kind < 0x80 || kind >= 0xe0) {
    value = static_cast<std::int8_t>(kind);
    rest_.remove_prefix(1);
    return true;
  }
  if (kind < 0xcc || kind > 0xd3) return false;
  const std::size_t size = std::size_t{1} << (kind & 3);
  if (!big_endian(size, number)) return false;
  const auto shift = static_cast<int>(64 - 8 * size);
  const bool with_sign = kind >= 0xd0;
  if (!with_sign && number >> 63 != 0) return false;  // beyond the whole numbers of this type
  value = with_sign ? static_cast<std::int64_t>(number << shift) >> shift
                    : static_cast<std::int64_t>(number);
  return true;
}

}  // namespace facebench
