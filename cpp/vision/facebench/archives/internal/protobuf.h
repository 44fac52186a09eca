#pragma once

#include <cstdint>
#include <string_view>

namespace facebench {

// The fields of a protobuf message, one after the other, without its schema. Source: "Encoding",
// protobuf.dev/programming-guides/encoding.
class ProtobufFields {
 public:
  enum class Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  explicit ProtobufFields(std::string_view message) : rest_(message) {}

  // Goes to the next field; false at the end, and where the message is damaged.
  bool next();
  bool damaged() const { return damaged_; }

  std::uint64_t number() const { return number_; }
  bool is(std::uint64_t number, Wire wire) const { return number_ == number && wire_ == wire; }
  Wire wire() const { return wire_; }
  std::uint64_t value() const { return value_; }     // of a varint
  std::string_view bytes() const { return bytes_; }  // of the others

 private:
  bool varint(std::uint64_t& value);
  bool stop();

  std::string_view rest_;
  bool damaged_ = false;
  std::uint64_t number_ = 0, value_ = 0;
  Wire wire_ = Wire::varint;
  std::string_view bytes_;
};

}  // namespace facebench
