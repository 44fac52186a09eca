#include "facebench/metrics/identification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "facebench/core/random.h"
#include "facebench/metrics/listed_pairs.h"

namespace facebench {
namespace {

// Gallery: people 1, 2, 3. Probes: 1 (found), 2 (behind 3), 3 (tied with 1), and 8, 9 (strangers).
const std::vector<double> similarity{0.9,  0.2, 0.1,  //
                                     0.1,  0.5, 0.6,  //
                                     0.7,  0.1, 0.7,  //
                                     0.65, 0.1, 0.2,  //
                                     0.2,  0.3, 0.1};
const std::vector<std::int32_t> probes{1, 2, 3, 8, 9}, gallery{1, 2, 3};

TEST(Identification, HandWorkedCmc) {
  const Searches s(similarity, probes, gallery);
  EXPECT_EQ(s.mated(), 3);
  EXPECT_EQ(s.non_mated(), 2);
  EXPECT_EQ(cmc(s).rate, (std::vector<double>{1.0 / 3, 1, 1}));
  EXPECT_EQ(cmc(s, "optimistic").rate, (std::vector<double>{2.0 / 3, 1, 1}));
  EXPECT_EQ(cmc(s, "expected").rate[0], 0.5);
  EXPECT_EQ(cmc(s).tied, 1);
  const std::vector<Weight> weights{1, 3, 0, 1, 1};
  EXPECT_EQ(cmc(s, "pessimistic", weights).rate, (std::vector<double>{0.25, 1, 1}));
}

TEST(Identification, HandWorkedDir) {
  const Searches s(similarity, probes, gallery);
  // One of two strangers may be answered: the threshold lies between 0.3 and 0.5 of probe 2's mate.
  const DirAtFpir half = dir_at_fpir(s, 0.5);
  EXPECT_EQ(half.false_positives, 1);
  EXPECT_EQ(half.threshold, 0.4);
  EXPECT_EQ(half.identified, 1);  // probe 2 has rank 2, probe 3 is tied
  EXPECT_EQ(dir_at_fpir(s, 0.5, 2).identified, 3);
  const DirAtFpir none = dir_at_fpir(s, 0.1, 0);
  EXPECT_EQ(none.false_positives, 0);
  EXPECT_NEAR(none.threshold, 0.675, 1e-15);
  EXPECT_EQ(none.identified, 2);
  EXPECT_FALSE(none.reliable);
  EXPECT_EQ(none.fnir, 1.0 / 3);
  // All scores of mated probes with others: 0.7, 0.6, 0.2, ...; the second highest of ceil(3 *
  // 0.5).
  EXPECT_EQ(dir_at_fpir(s, 0.5, 1, "ijb_1n").threshold, 0.6);
  EXPECT_EQ(dir_at_fpir(s, 0.5, 1, "ijb_1n").identified, 2);
  EXPECT_EQ(dir_at_fpir(s, 0.5, 1, "ijb_evals").threshold, 0.65);
}

TEST(Identification, APersonScoresAsTheBestOfTheirImages) {
  // Two images of person 1 in the gallery: a rank counts people.
  const std::vector<double> scores{0.8, 0.9, 0.5};
  const std::vector<std::int32_t> two{2}, images{1, 1, 2};
  const Searches s(scores, two, images);
  EXPECT_EQ(s.gallery(), 2);
  EXPECT_EQ(s.ahead()[0], 1);
  EXPECT_EQ(rank_rate(s, 2), 1);
}

TEST(Identification, SameBitsForAnyNumberOfThreads) {
  Random random(1, "searches");
  std::vector<float> scores(200 * 50);
  for (float& x : scores) x = static_cast<float>(std::round(random.normal() * 8) / 8);
  std::vector<std::int32_t> who(200), people(50);
  for (int p = 0; p < 200; ++p) who[p] = p % 60;
  for (int g = 0; g < 50; ++g) people[g] = g;
  const Searches one(scores, who, people, Job{1}), four(scores, who, people, Job{4});
  ASSERT_EQ(one.impostors().size(), 2u * static_cast<std::size_t>(one.mated()));
  for (std::size_t i = 0; i < one.impostors().size(); ++i) {
    EXPECT_EQ(one.impostors()[i].score, four.impostors()[i].score);
    EXPECT_EQ(one.impostors()[i].probe, four.impostors()[i].probe);
  }
  EXPECT_EQ(cmc(one, "expected").rate, cmc(four, "expected").rate);
}

TEST(Identification, SearchesInBlocksAreThoseOfAllScores) {
  Random random(7, "searches");
  constexpr std::size_t dim = 8, n = 60, m = 9;
  std::vector<float> left(n * dim), right(m * dim);
  for (float& v : left) v = static_cast<float>(random.normal());
  for (float& v : right) v = static_cast<float>(random.normal());
  std::copy_n(right.begin(), dim, right.begin() + 3 * dim);  // two entries alike: ties
  std::vector<std::int32_t> who, whom;
  for (std::size_t i = 0; i < n; ++i) who.push_back(static_cast<std::int32_t>(i % 10));
  for (std::size_t i = 0; i < m; ++i) whom.push_back(static_cast<std::int32_t>(i % 7));
  const EmbeddingRows a(left, dim), b(right, dim);
  const std::vector<float> scores = dense_scores(a, b);
  const Searches all(scores, who, whom);
  EXPECT_EQ(search_embeddings(a, who, b, whom).record(), all.record());
  const EmbeddingRows part = a.slice(20, 30);
  EXPECT_EQ(dense_scores(part, b),
            std::vector<float>(scores.begin() + 20 * m, scores.begin() + 50 * m));
  EXPECT_EQ(part.length(0), a.length(20));
  EXPECT_EQ(a.slice(60, 0).size(), 0);
  EXPECT_THROW(a.slice(31, 30), std::out_of_range);
  EXPECT_THROW(a.slice(-1, 2), std::out_of_range);
  std::size_t next = 0;
  const Searches::Rows rows = [&](std::size_t first, std::size_t count) {
    EXPECT_EQ(first, next);
    next = first + count;
    return std::vector<float>(scores.begin() + static_cast<std::ptrdiff_t>(first * m),
                              scores.begin() + static_cast<std::ptrdiff_t>(next * m));
  };
  EXPECT_EQ(Searches(rows, who, whom).record(), all.record());
  EXPECT_EQ(next, n);
  const Searches again(all.record());
  EXPECT_EQ(again.mated(), all.mated());
  EXPECT_TRUE(std::ranges::equal(again.order(), all.order()));
  EXPECT_EQ(dir_at_fpir(again, 0.2).identified, dir_at_fpir(all, 0.2).identified);
  EXPECT_THROW(search_embeddings(a, whom, b, whom), std::invalid_argument);
  EXPECT_THROW(Searches([](std::size_t, std::size_t) { return std::vector<float>(1); }, who, whom),
               std::invalid_argument);
  EXPECT_THROW(Searches(SearchRecord{}), std::invalid_argument);
}

TEST(Identification, TablesAreComplete) {
  for (const auto& c : identification_conventions().entries())
    EXPECT_TRUE(c.measure && !c.doc.empty() && !c.source.empty()) << c.name;
  for (const auto& c : rank_ties().entries())
    EXPECT_TRUE(c.within && !c.doc.empty() && !c.source.empty()) << c.name;
}

}  // namespace
}  // namespace facebench
