#include "facebench/metrics/similar_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "facebench/core/error.h"
#include "facebench/core/random.h"

namespace facebench {
namespace {

constexpr std::int64_t kDim = 24;

std::vector<float> vectors(std::int64_t count, std::uint64_t seed) {
  Random random(seed, "similar_pairs_test");
  std::vector<float> values;
  for (std::int64_t i = 0; i < count * kDim; ++i)
    values.push_back(static_cast<float>(random.normal()));
  return values;
}

// In double, one pair after the other.
std::vector<SimilarPair> by_hand(const std::vector<float>& a, const std::vector<float>& b,
                                 double threshold) {
  const auto row = [](const std::vector<float>& v, std::size_t i) { return v.data() + i * kDim; };
  std::vector<SimilarPair> result;
  for (std::size_t i = 0; i < a.size() / kDim; ++i)
    for (std::size_t j = 0; j < b.size() / kDim; ++j) {
      double dot = 0, aa = 0, bb = 0;
      for (std::size_t k = 0; k < kDim; ++k) {
        const double x = row(a, i)[k], y = row(b, j)[k];
        dot += x * y;
        aa += x * x;
        bb += y * y;
      }
      const double score = dot / std::sqrt(aa * bb);
      if (score >= threshold)
        result.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), score});
    }
  std::ranges::sort(result, std::greater<double>(), &SimilarPair::score);
  return result;
}

TEST(SimilarPairs, AreThoseOfAllPairsScoredOneByOne) {
  // Fewer and more rows than columns, and no multiples of any panel.
  for (const auto& [n, m] : {std::pair{203, 77}, std::pair{31, 190}, std::pair{1, 1}}) {
    const auto a = vectors(n, 1), b = vectors(m, 2);
    for (const double threshold : {-1.0, 0.2, 0.5}) {
      const auto wanted = by_hand(a, b, threshold);
      Job job;
      job.threads = 3;
      const auto found = similar_pairs(EmbeddingRows(a, kDim), EmbeddingRows(b, kDim), threshold);
      ASSERT_EQ(found.size(), wanted.size()) << n << " " << m << " " << threshold;
      for (std::size_t k = 0; k < found.size(); ++k) {
        EXPECT_EQ(found[k].row, wanted[k].row);
        EXPECT_EQ(found[k].column, wanted[k].column);
        EXPECT_NEAR(found[k].score, wanted[k].score, 1e-12);
      }
      EXPECT_EQ(found,
                similar_pairs(EmbeddingRows(a, kDim), EmbeddingRows(b, kDim), threshold, job));
    }
  }
}

TEST(SimilarPairs, ThresholdIsReachedByEquality) {
  const auto a = vectors(40, 3), b = vectors(40, 4);
  const EmbeddingRows rows(a, kDim), columns(b, kDim);
  const auto all = similar_pairs(rows, columns, -1);
  ASSERT_EQ(all.size(), 1600u);
  const double score = all[9].score;
  EXPECT_EQ(similar_pairs(rows, columns, score).size(), 10u);
  EXPECT_EQ(similar_pairs(rows, columns, std::nextafter(score, 2)).size(), 9u);
}

TEST(SimilarPairs, RefusesWhatCannotBeCompared) {
  const auto a = vectors(4, 5);
  EXPECT_THROW(similar_pairs(EmbeddingRows(a, kDim), EmbeddingRows(a, kDim / 2), 0),
               std::invalid_argument);
  const std::vector<float> zero(kDim, 0);
  EXPECT_THROW(similar_pairs(EmbeddingRows(a, kDim), EmbeddingRows(zero, kDim), 0), Error);
  EXPECT_TRUE(similar_pairs(EmbeddingRows(a, kDim), EmbeddingRows({}, kDim), 0).empty());
}

}  // namespace
}  // namespace facebench
