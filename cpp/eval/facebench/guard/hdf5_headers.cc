#include "facebench/guard/internal/hdf5_headers.h"

#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/io/internal/memory_number.h"

// HDF5 file format 3.0, IV.A.1. Addresses and lengths have 8 bytes (H5Reader refuses others).
namespace facebench::hdf5 {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint64_t kFirstRead = 512;  // of a header whose size the library does not know yet
constexpr std::uint64_t kSignature = 4, kChecksum = 4;

bool begins(Bytes bytes, std::string_view signature) {
  return bytes.size() >= signature.size() &&
         std::memcmp(bytes.data(), signature.data(), signature.size()) == 0;
}

// Whether the message that says how a data set is stored holds what is read of it (IV.A.2.i), and
// the data set is not put together from others: where to find these is read from a heap without
// looking (H5S__hyper_deserialize).
bool is_sound_layout(Bytes message) {
  enum { kCompact, kContiguous, kChunked };
  const auto at = [&](std::size_t i) {
    return i < message.size() ? std::to_integer<std::size_t>(message[i]) : 0;
  };
  const std::size_t version = at(0), size = message.size();
  if (version == 1 || version == 2) {
    const std::size_t kind = at(2), compact_size = 8 + 4 * at(1);
    if (kind != kCompact) return size >= 8 + compact_size;
    return size >= compact_size + 4 &&
           size - compact_size - 4 >= number_at<std::uint32_t>(message.data() + compact_size);
  }
  if (version != 3 && version != 4) return true;  // which the library does not know
  switch (at(1)) {
    case kCompact:
      return size >= 4 + at(2) + 256 * at(3);
    case kContiguous:
      return size >= 18;
    case kChunked: {
      if (version == 3) return size >= 11 + 4 * at(2);
      const std::size_t index = 5 + at(3) * at(4);
      // Bytes of parameters, by the kind of index; the first has them where it is filtered.
      const std::size_t parameters[] = {0, (at(2) & 2) != 0 ? 12u : 0u, 0, 1, 5, 6};
      return at(index) < std::size(parameters) && size >= index + 9 + parameters[at(index)];
    }
    default:
      return false;
  }
}

}  // namespace

struct ObjectHeaders::Header {
  std::uint64_t address = 0;
  bool second = false;             // version 2, whose parts have a signature and a checksum
  std::uint64_t prefix = 16;       // bytes before the first message
  std::uint64_t messages = 0;      // bytes of those that follow the prefix
  std::uint64_t message_head = 8;  // bytes

  std::uint64_t size() const { return prefix + messages + (second ? kChecksum : 0); }

  // No value for what is not a header.
  static std::optional<Header> of(std::uint64_t address, Bytes bytes) {
    Header h{.address = address};
    if (begins(bytes, {"\1\0", 2}) && bytes.size() >= h.prefix) {
      h.messages = number_at<std::uint32_t>(bytes.data() + 8);
      return h;
    }
    if (!begins(bytes, "OHDR") || bytes.size() < 6) return {};
    const auto flags = std::to_integer<unsigned>(bytes[5]);
    const std::size_t size_bytes = std::size_t{1} << (flags & 3);
    const bool has_order = flags & 4, has_phases = flags & 16, has_times = flags & 32;
    h.second = true;
    h.prefix = 6 + (has_times ? 16 : 0) + (has_phases ? 4 : 0) + size_bytes;
    h.message_head = has_order ? 6 : 4;
    if (bytes.size() < h.prefix) return {};
    std::memcpy(&h.messages, bytes.data() + h.prefix - size_bytes, size_bytes);
    return h;
  }

  // Adds (address, bytes) of what continues these messages; false where a message does not hold
  // what is read of it.
  bool add_continuations(Bytes messages,
                         std::vector<std::pair<std::uint64_t, std::uint64_t>>& found) const {
    constexpr unsigned kLayout = 8, kContinuation = 16;
    while (messages.size() >= message_head) {
      const std::byte* head = messages.data();
      const unsigned type = second ? number_at<std::uint8_t>(head) : number_at<std::uint16_t>(head);
      const auto size = number_at<std::uint16_t>(head + (second ? 1 : 2));
      messages = messages.subspan(message_head);
      if (type == kContinuation && (size < 16 || messages.size() < 16)) return false;
      if (size > messages.size()) return true;  // which the library sees
      if (type == kLayout && !is_sound_layout(messages.first(size))) return false;
      if (type == kContinuation)
        found.emplace_back(number_at<std::uint64_t>(messages.data()),
                           number_at<std::uint64_t>(messages.data() + 8));
      messages = messages.subspan(size);
    }
    return true;
  }
};

bool ObjectHeaders::are_sound(std::uint64_t address, std::span<const std::byte> bytes,
                              std::uint64_t end) {
  const auto part = parts_.find(address);
  const bool is_part = part != parts_.end() && part->second == bytes.size();
  const bool may_begin = bytes.size() == kFirstRead || address + bytes.size() == end;
  if (is_part && !may_begin) return true;
  const std::optional<Header> header = Header::of(address, bytes);
  if (!header) return true;  // a part, or what is not a header of an object
  if (header->size() > bytes.size()) parts_[address + bytes.size()] = header->size() - bytes.size();
  return follow(*header);
}

bool ObjectHeaders::follow(const Header& header) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  std::uint64_t left = file_bytes_;  // parts that lie on top of one another would be more
  const auto messages_of = [&](std::uint64_t address, std::uint64_t count) {
    std::optional<std::vector<std::byte>> bytes;
    if (count > left) return bytes;
    left -= count;
    bytes.emplace(count);
    if (!read_(address, *bytes)) bytes.reset();
    return bytes;
  };
  const auto first = messages_of(header.address + header.prefix, header.messages);
  if (!first || !header.add_continuations(*first, found)) return false;
  const std::uint64_t around = header.second ? kSignature + kChecksum : 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [address, count] = found[i];
    if (!parts_.try_emplace(address, count).second) continue;
    if (count < around) return false;
    const auto next = messages_of(address + (header.second ? kSignature : 0), count - around);
    if (!next || !header.add_continuations(*next, found)) return false;
  }
  return true;
}

}  // namespace facebench::hdf5
