#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace facebench {

// The Philox4x32-10 block function: four words out of a 128-bit counter and a 64-bit key.
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// Counter-based random numbers. A stream is named by what it is for and by indices, e.g.
// Random(seed, "augment", {epoch, sample}): no stream depends on how many numbers another one drew,
// so results do not depend on the order of execution or the number of threads.
class Random {
 public:
  Random(std::uint64_t seed, std::string_view purpose,
         std::initializer_list<std::uint64_t> indices = {});

  std::uint32_t next_u32();
  std::uint64_t next_u64();
  // Uniform in [0, 1) with 53 bits.
  double uniform();
  // Uniform in [low, high). Requires low <= high.
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // Uniform integer in [0, n), unbiased. Throws std::invalid_argument for n = 0.
  std::uint64_t below(std::uint64_t n);
  // Standard normal (Box-Muller; both values of a pair are used).
  double normal();

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_{};
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

// Fisher-Yates with below(): same order for the same stream everywhere.
template <class Container>
void shuffle(Container& c, Random& random) {
  for (std::uint64_t i = c.size(); i > 1; --i) std::swap(c[i - 1], c[random.below(i)]);
}

}  // namespace facebench
