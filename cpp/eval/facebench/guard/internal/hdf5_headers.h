#pragma once

// The headers of objects of an HDF5 file; for this floor's sources only.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>

namespace facebench::hdf5 {

// Looks at each header of an object before the library does, which reads the address and the length
// in a message that continues the header, 16 bytes, however short the message is
// (H5O__cont_decode, HDF5 1.10), and likewise what a data set's layout says (H5O__layout_decode).
class ObjectHeaders {
 public:
  // Bytes of the file at an address; false where they are not there.
  using Read = std::function<bool(std::uint64_t address, std::span<std::byte> out)>;

  ObjectHeaders(std::uint64_t file_bytes, Read read)
      : file_bytes_(file_bytes), read_(std::move(read)) {}

  // Whether the library may have `bytes`, which it reads at `address` as an object's header or a
  // part of one; `end`: of what the file has in use.
  bool are_sound(std::uint64_t address, std::span<const std::byte> bytes, std::uint64_t end);

 private:
  struct Header;
  bool follow(const Header& header);

  std::uint64_t file_bytes_;
  Read read_;
  // What headers that were followed say is read later: bytes by address.
  std::map<std::uint64_t, std::uint64_t> parts_;
};

}  // namespace facebench::hdf5
