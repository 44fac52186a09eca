#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace facebench {

// What a msgpack message of lists, bytes and whole numbers holds, taken in its order. Each call
// returns false where something else comes or the message ends. Texts count as bytes: older writers
// keep bytes so. Source: msgpack/msgpack spec.md.
class MessagePack {
 public:
  explicit MessagePack(std::string_view message) : rest_(message) {}

  // The number of elements, which follow.
  bool list(std::size_t& count);
  bool bytes(std::string_view& value);
  bool whole_number(std::int64_t& value);
  bool at_end() const { return rest_.empty(); }

 private:
  bool big_endian(std::size_t size, std::uint64_t& value);

  std::string_view rest_;
};

}  // namespace facebench
