#include "facebench/archives/internal/protobuf.h"

namespace facebench {

bool ProtobufFields::varint(std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool ProtobufFields::stop() {
  damaged_ = true;
  rest_ = {};
  return false;
}

bool ProtobufFields::next() {
  if (rest_.empty()) return false;
  std::uint64_t tag = 0, length = 0;
  if (!varint(tag)) return stop();
  number_ = tag >> 3;
  wire_ = static_cast<Wire>(tag & 7);
  value_ = 0;
  bytes_ = {};
  switch (wire_) {
    case Wire::varint:
      return varint(value_) || stop();
    case Wire::fixed64:
      length = 8;
      break;
    case Wire::bytes:
      if (!varint(length)) return stop();
      break;
    case Wire::fixed32:
      length = 4;
      break;
    default:  // groups, which nobody writes any more
      return stop();
  }
  if (length > rest_.size()) return stop();
  bytes_ = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return true;
}

}  // namespace facebench
