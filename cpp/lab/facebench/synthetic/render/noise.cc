#include "facebench/synthetic/render/noise.h"

#include <array>

#include "facebench/core/random.h"

namespace facebench::synthetic {

const std::int8_t* noise_lattice() {
  static const auto lattice = [] {
    std::array<std::int8_t, kNoiseSide * kNoiseSide> values{};
    Random random(0, "synthetic.noise_lattice");
    for (auto& v : values) v = static_cast<std::int8_t>(static_cast<int>(random.below(255)) - 127);
    return values;
  }();
  return lattice.data();
}

NoiseField::NoiseField(std::uint32_t seed) {
  const auto block = philox4x32({seed, 0, 0, 0}, {0x6e6f6973u, 0x65u});
  offset_x_ = static_cast<int>(block[0] % kNoiseSide);
  offset_y_ = static_cast<int>(block[1] % kNoiseSide);
}

}  // namespace facebench::synthetic
