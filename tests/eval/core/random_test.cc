#include "facebench/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

namespace facebench {

// Known answers of the Random123 distribution's kat_vectors, philox 4x32 with 10 rounds.
TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, StreamsAreNamedByPurposeAndIndices) {
  const auto first = [](Random random) { return random.next_u64(); };
  EXPECT_EQ(first({1, "a", {2, 3}}), first({1, "a", {2, 3}}));
  const std::vector<std::uint64_t> values = {first({1, "a"}),         first({2, "a"}),
                                             first({1, "b"}),         first({1, "a", {0}}),
                                             first({1, "a", {0, 0}}), first({1, "a", {1}}),
                                             first({1, "a", {2, 3}}), first({1, "a", {3, 2}}),
                                             first({1, "ab"}),        first({1, ""})};
  EXPECT_EQ(std::set<std::uint64_t>(values.begin(), values.end()).size(), values.size());
}

TEST(Random, NeighbouringStreamsDoNotCollide) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch)
      for (std::uint64_t sample = 0; sample < 20; ++sample)
        seen.insert(Random(seed, "augment", {epoch, sample}).next_u64());
  EXPECT_EQ(seen.size(), 8000u);
}

TEST(Random, UniformMoments) {
  Random random(7, "moments");
  constexpr int n = 200000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
  }
  // Five standard deviations of the mean of n uniform numbers and of their squares.
  EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
}

TEST(Random, NormalMoments) {
  Random random(7, "moments");
  constexpr int n = 200000;
  double sum = 0, squares = 0, cubes = 0;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    cubes += x * x * x;
  }
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(cubes / n, 0, 5 * std::sqrt(15.0 / n));
}

TEST(Random, BelowIsUniformAndInRange) {
  Random random(7, "below");
  constexpr int n = 60000;
  std::vector<int> counts(6);
  for (int i = 0; i < n; ++i) ++counts.at(random.below(6));
  double chi_square = 0;
  for (int count : counts) chi_square += (count - n / 6.0) * (count - n / 6.0) / (n / 6.0);
  EXPECT_LT(chi_square, 20.5);  // 5 degrees of freedom, probability 0.001
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0u);
  // A bound that rejects almost half of all draws.
  constexpr std::uint64_t kBound = (1ull << 63) + 1;
  for (int i = 0; i < 100; ++i) EXPECT_LT(random.below(kBound), kBound);
  EXPECT_THROW(random.below(0), std::invalid_argument);
}

TEST(Random, ShuffleIsAPermutationAndRepeats) {
  std::vector<int> a(100);
  std::iota(a.begin(), a.end(), 0);
  std::vector<int> b = a, sorted = a;
  Random ra(3, "shuffle"), rb(3, "shuffle");
  shuffle(a, ra);
  shuffle(b, rb);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, sorted);
  std::sort(a.begin(), a.end());
  EXPECT_EQ(a, sorted);
}

// All 24 orders of four things come up equally often.
TEST(Random, ShuffleIsUniform) {
  std::map<std::vector<int>, int> counts;
  constexpr int n = 24000;
  for (std::uint64_t i = 0; i < n; ++i) {
    std::vector<int> v = {0, 1, 2, 3};
    Random random(5, "orders", {i});
    shuffle(v, random);
    ++counts[v];
  }
  ASSERT_EQ(counts.size(), 24u);
  double chi_square = 0;
  for (const auto& [order, count] : counts)
    chi_square += (count - n / 24.0) * (count - n / 24.0) / (n / 24.0);
  EXPECT_LT(chi_square, 49.7);  // 23 degrees of freedom, probability 0.001
}

}  // namespace facebench
