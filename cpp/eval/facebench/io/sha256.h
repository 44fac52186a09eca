#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "facebench/core/job.h"

namespace facebench {

// SHA-256, fed in pieces. Source: FIPS 180-4, section 6.2.
class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  void update(std::string_view bytes) { update(std::as_bytes(std::span(bytes))); }
  // The hash of everything so far, 64 lower-case digits. More may follow.
  std::string hex() const;

 private:
  void blocks(const std::uint8_t* data, std::size_t count);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> pending_{};
  std::uint64_t length_ = 0;  // bytes so far
};

std::string sha256_hex(std::string_view bytes);
// Of a file's bytes, read in pieces. Throws Error.
std::string sha256_file(const std::filesystem::path& path, const Job& job = {});

}  // namespace facebench
