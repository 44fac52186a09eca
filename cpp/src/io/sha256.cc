#include "facebench/io/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "facebench/io/file.h"

namespace facebench {
namespace {

constexpr std::uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t load_big_endian(const std::uint8_t* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}

}  // namespace

void Sha256::block(const std::uint8_t* data) {
  std::uint32_t w[64];
  for (int i = 0; i < 16; ++i) w[i] = load_big_endian(data + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::uint32_t sum[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state_[i] += sum[i];
}

void Sha256::update(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  const std::size_t filled = length_ % 64;
  length_ += left;
  if (filled > 0) {
    const std::size_t n = std::min(left, 64 - filled);
    std::copy_n(data, n, pending_.data() + filled);
    data += n;
    left -= n;
    if (filled + n < 64) return;
    block(pending_.data());
  }
  for (; left >= 64; data += 64, left -= 64) block(data);
  std::copy_n(data, left, pending_.data());
}

std::string Sha256::hex() const {
  Sha256 last = *this;
  const std::uint64_t bits = length_ * 8;
  std::uint8_t padding[72] = {0x80};
  const std::size_t zeros = (119 - length_ % 64) % 64;
  for (int i = 0; i < 8; ++i)
    padding[1 + zeros + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  last.update(std::as_bytes(std::span(padding, zeros + 9)));
  std::string text;
  for (std::uint32_t word : last.state_)
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

std::string sha256_file(const std::filesystem::path& path, const Job& job) {
  constexpr std::size_t kPiece = 4 << 20;
  const MappedFile file(path);
  const std::span<const std::byte> bytes = file.bytes();
  Stage stage(job, "hash", static_cast<std::int64_t>(bytes.size()), "bytes");
  Sha256 hash;
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t n = std::min(kPiece, bytes.size() - done);
    hash.update(bytes.subspan(done, n));
    done += n;
    stage.update(static_cast<std::int64_t>(done));
  }
  return hash.hex();
}

}  // namespace facebench
