#include "facebench/core/random.h"

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace facebench {
namespace {

// SplitMix64's finaliser: spreads seed, purpose and indices over the key.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (unsigned char c : text) h = (h ^ c) * 0x100000001b3ULL;
  return h;
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> c,
                                        std::array<std::uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

Random::Random(std::uint64_t seed, std::string_view purpose,
               std::initializer_list<std::uint64_t> indices) {
  std::uint64_t key = mix(mix(seed) ^ fnv1a(purpose));
  // The upper half of the counter carries a second, independent hash, so that two streams collide
  // only if both 64-bit values agree.
  std::uint64_t high = mix(fnv1a(purpose) + 1) ^ seed;
  for (std::uint64_t i : indices) {
    key = mix(key ^ i);
    high = mix(high + 0x632be59bd9b4e019ULL * (i + 1));
  }
  key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  counter_[2] = static_cast<std::uint32_t>(high);
  counter_[3] = static_cast<std::uint32_t>(high >> 32);
}

std::uint32_t Random::next_u32() {
  if (used_ == 4) {
    block_ = philox4x32(counter_, key_);
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
  }
  return block_[used_++];
}

std::uint64_t Random::next_u64() {
  const std::uint64_t low = next_u32();
  return low | (std::uint64_t{next_u32()} << 32);
}

double Random::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }

std::uint64_t Random::below(std::uint64_t n) {
  if (n == 0) throw std::invalid_argument("Random::below: there is no number below 0");
  // Lemire's multiply-and-reject: unbiased, and rarely draws twice.
  unsigned __int128 product = static_cast<unsigned __int128>(next_u64()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (static_cast<std::uint64_t>(product) < threshold)
      product = static_cast<unsigned __int128>(next_u64()) * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

}  // namespace facebench
