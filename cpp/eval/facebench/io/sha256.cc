#include "facebench/io/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "facebench/core/isa.h"
#include "facebench/io/file.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

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

void hash_block(std::array<std::uint32_t, 8>& state, const std::uint8_t* data) {
  std::uint32_t w[64];
  for (int i = 0; i < 16; ++i) w[i] = load_big_endian(data + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::uint32_t sum[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state[i] += sum[i];
}

#if defined(__x86_64__)
bool processor_hashes() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1) != 0 &&
           __builtin_cpu_supports("sse4.1");
  }();
  return has && active_isa() != Isa::plain;
}

// The same by the SHA extensions, whose instructions hold the state as ABEF and CDGH. Source:
// Intel, "Intel SHA Extensions", 2013.
__attribute__((target("sha,sse4.1,ssse3"))) void hash_on_processor(std::uint32_t* state,
                                                                   const std::uint8_t* data,
                                                                   std::size_t count) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const auto load = [](const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  const __m128i cdab = _mm_shuffle_epi32(load(state), 0xB1);
  const __m128i efgh = _mm_shuffle_epi32(load(state + 4), 0x1B);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
  for (; count > 0; --count, data += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i) w[i] = _mm_shuffle_epi8(load(data + 16 * i), swap);
    for (int i = 0; i < 16; ++i) {
      __m128i& here = w[i & 3];
      const __m128i sum = _mm_add_epi32(here, load(kRound + 4 * i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      const __m128i last = w[(i + 3) & 3];
      here = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(here, w[(i + 1) & 3]),
                                                _mm_alignr_epi8(last, w[(i + 2) & 3], 4)),
                                  last);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
bool processor_hashes() { return false; }
void hash_on_processor(std::uint32_t*, const std::uint8_t*, std::size_t) {}
#endif

}  // namespace

void Sha256::blocks(const std::uint8_t* data, std::size_t count) {
  if (processor_hashes()) return hash_on_processor(state_.data(), data, count);
  for (std::size_t i = 0; i < count; ++i) hash_block(state_, data + 64 * i);
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
    blocks(pending_.data(), 1);
  }
  blocks(data, left / 64);
  data += left / 64 * 64;
  left %= 64;
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
    file.forget(done, n);
    done += n;
    stage.update(static_cast<std::int64_t>(done));
  }
  return hash.hex();
}

}  // namespace facebench
