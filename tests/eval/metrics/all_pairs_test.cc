#include "facebench/metrics/all_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/isa.h"
#include "facebench/core/random.h"
#include "facebench/metrics/listed_pairs.h"
#include "facebench/metrics/tar_at_fars.h"

namespace facebench {
namespace {

using Floats = std::vector<float>;
using Indices = std::vector<std::int32_t>;

// Normal values; every vector is near the middle of its identity.
struct People {
  Floats values;
  Indices identity;
  std::int64_t dim;
};

People people(std::int64_t count, std::int64_t dim, std::int64_t identities, double spread = 1,
              std::uint64_t seed = 1) {
  People result{Floats(static_cast<std::size_t>(count * dim)), {}, dim};
  for (std::int64_t i = 0; i < count; ++i) {
    // Not in the order of the identities.
    const auto who = static_cast<std::uint64_t>((i * 7 + 3) % identities);
    Random middle(99, "middle", {who});
    Random noise(seed, "noise", {static_cast<std::uint64_t>(i)});
    // Lengths differ.
    const double length = 0.1 + static_cast<double>(i % 5);
    for (std::int64_t k = 0; k < dim; ++k)
      result.values[static_cast<std::size_t>(i * dim + k)] =
          static_cast<float>(length * (middle.normal() + spread * noise.normal()));
    result.identity.push_back(static_cast<std::int32_t>(who) * 3 - 5);
  }
  return result;
}

// The same comparisons scored one by one.
struct Listed {
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  std::vector<double> sorted[2];  // of either class, descending
  std::shared_ptr<Comparisons> comparisons;
  std::vector<std::int64_t> at;  // (rows, columns): which comparison it is, -1 = none
  std::int64_t columns = 0;
};

Listed listed(const People& a, const People& b, bool triangle) {
  const EmbeddingRows rows(a.values, a.dim), columns(b.values, b.dim);
  Indices first, second;
  Listed result;
  result.columns = columns.size();
  result.at.assign(static_cast<std::size_t>(rows.size() * columns.size()), -1);
  for (std::int32_t i = 0; i < rows.size(); ++i)
    for (std::int32_t j = triangle ? i + 1 : 0; j < columns.size(); ++j) {
      first.push_back(i);
      second.push_back(j);
      result.at[static_cast<std::size_t>(i * columns.size() + j)] =
          static_cast<std::int64_t>(result.labels.size());
      result.labels.push_back(a.identity[i] == b.identity[j]);
    }
  result.scores = listed_pair_scores(rows, columns, first, second);
  result.comparisons = std::make_shared<Comparisons>(result.scores, result.labels);
  for (std::size_t i = 0; i < result.scores.size(); ++i)
    result.sorted[result.comparisons->labels()[i]].push_back(result.comparisons->scores()[i]);
  return result;
}

void expect_equal(const TarAtFar& a, const TarAtFar& b) {
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.threshold, b.threshold) << "at FAR " << a.far_target;
  EXPECT_EQ(a.far_achieved, b.far_achieved);
  EXPECT_EQ(a.false_accepts, b.false_accepts);
  EXPECT_EQ(a.genuine_accepted, b.genuine_accepted);
  EXPECT_EQ(a.genuine, b.genuine);
  EXPECT_EQ(a.impostor, b.impostor);
  EXPECT_EQ(a.reliable, b.reliable);
  EXPECT_EQ(a.convention, b.convention);
}

void expect_tail(const ScoreTail& tail, const Listed& all, double far) {
  const auto& scores = all.sorted;
  EXPECT_EQ(tail.genuine, scores[1]);
  // Each score is of the two that it names, and none is named twice.
  const auto expect_named = [&](const std::vector<double>& of, const Indices& rows,
                                const Indices& columns, std::uint8_t label) {
    std::vector<bool> named(all.scores.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::int64_t found = all.at[static_cast<std::size_t>(
          static_cast<std::int64_t>(rows[k]) * all.columns + columns[k])];
      ASSERT_GE(found, 0);
      const auto at = static_cast<std::size_t>(found);
      ASSERT_EQ(all.scores[at], of[k]);
      ASSERT_EQ(all.labels[at], label);
      ASSERT_FALSE(named[at]);
      named[at] = true;
    }
  };
  ASSERT_EQ(tail.genuine_row.size(), tail.genuine.size());
  expect_named(tail.genuine, tail.genuine_row, tail.genuine_column, 1);
  expect_named(tail.impostor, tail.impostor_row, tail.impostor_column, 0);
  if (!tail.impostor.empty()) {
    const auto above =
        std::ranges::count_if(scores[0], [&](double s) { return s > tail.impostor.back(); });
    EXPECT_GE(static_cast<std::ptrdiff_t>(tail.impostor_row.size()), above);
  }
  ASSERT_EQ(tail.impostor_count, static_cast<std::int64_t>(scores[0].size()));
  ASSERT_LE(tail.impostor.size(), scores[0].size());
  for (std::size_t k = 0; k < tail.impostor.size(); ++k)
    ASSERT_EQ(tail.impostor[k], scores[0][k]) << "at " << k;
  if (!tail.impostor.empty()) {
    const double last = tail.impostor.back();
    EXPECT_EQ(tail.impostor_reach, std::count_if(scores[0].begin(), scores[0].end(),
                                                 [&](double s) { return s >= last; }));
  }
  if (scores[0].empty() || scores[1].empty()) return;
  for (const double f : {0.0, far / 50, far})
    expect_equal(tar_at_far(tail, f), tar_at_far(*all.comparisons, f));
}

class EachIsa : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (GetParam() > supported_isa()) GTEST_SKIP() << "this processor has no such instructions";
    before_ = active_isa();
    force_isa(GetParam());
  }
  void TearDown() override {
    if (GetParam() <= supported_isa()) force_isa(before_);
  }
  Isa before_ = Isa::plain;
};
INSTANTIATE_TEST_SUITE_P(Kernels, EachIsa,
                         testing::Values(Isa::plain, Isa::avx2, Isa::avx512, Isa::avx512bf16),
                         [](const auto& info) { return std::string(isa_name(info.param)); });

TEST_P(EachIsa, CosinesAreThoseOfTheDefinition) {
  for (const std::int64_t dim : {1, 3, 7, 8, 9, 31, 128, 515}) {
    const People p = people(37, dim, 9);
    const EmbeddingRows rows(p.values, dim);
    const Listed all = listed(p, p, true);
    std::size_t at = 0;
    for (std::int64_t i = 0; i < rows.size(); ++i)
      for (std::int64_t j = i + 1; j < rows.size(); ++j, ++at) {
        double s[8] = {};
        long double ab = 0, aa = 0, bb = 0;
        for (std::int64_t k = 0; k < dim; ++k) {
          const double x = rows.row(i)[k], y = rows.row(j)[k];
          s[k % 8] += x * y;
          ab += static_cast<long double>(x) * y;
          aa += static_cast<long double>(x) * x;
          bb += static_cast<long double>(y) * y;
        }
        const double dot = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
        EXPECT_EQ(all.scores[at], std::clamp(dot / (rows.length(i) * rows.length(j)), -1.0, 1.0));
        EXPECT_NEAR(all.scores[at], static_cast<double>(ab / std::sqrt(aa * bb)), 1e-14);
      }
  }
}

// Long lists are scored in another order than they are given in.
TEST_P(EachIsa, LongListsInAnyOrder) {
  // So many columns that they are taken in several blocks.
  const People p = people(150, 512, 9), q = people(3000, 512, 9, 1, 2);
  const EmbeddingRows rows(p.values, p.dim), columns(q.values, q.dim);
  const std::vector<float> all = dense_scores(rows, columns);
  Random random(1, "order");
  Indices first, second;
  for (int k = 0; k < 50'000; ++k) {
    first.push_back(static_cast<std::int32_t>(random.below(150)));
    second.push_back(static_cast<std::int32_t>(random.below(3000)));
  }
  for (const int threads : {1, 3}) {
    const auto scores = listed_pair_scores(rows, columns, first, second, Job{threads});
    for (std::size_t k = 0; k < first.size(); ++k)
      ASSERT_EQ(static_cast<float>(scores[k]), all[first[k] * 3000 + second[k]]) << "pair " << k;
  }
}

TEST_P(EachIsa, DenseScoresAreTheRoundedCosines) {
  for (const std::int64_t dim : {5, 64, 130}) {
    const People a = people(131, dim, 9), b = people(2117, dim, 9, 1, 2);
    const EmbeddingRows rows(a.values, dim), columns(b.values, dim);
    const Listed all = listed(a, b, false);
    const std::vector<float> dense = dense_scores(rows, columns, Job{3});
    ASSERT_EQ(dense.size(), all.scores.size());
    for (std::size_t i = 0; i < dense.size(); ++i)
      ASSERT_EQ(dense[i], static_cast<float>(all.scores[i])) << "at " << i;
    std::vector<double> exact(dense.size());
    dense_scores(rows, columns, std::span(exact));
    EXPECT_EQ(exact, all.scores);
  }
}

TEST_P(EachIsa, TailOfRowsWithColumnsIsThatOfAllScores) {
  for (const std::int64_t dim : {2, 33, 256}) {
    const People a = people(301, dim, 40, 1.5), b = people(533, dim, 40, 1.5, 2);
    const EmbeddingRows rows(a.values, dim), columns(b.values, dim);
    const Listed all = listed(a, b, false);
    for (const double far : {0.0, 1e-3, 0.05, 1.0}) {
      AllPairsOptions options;
      options.far = far;
      expect_tail(all_pairs(rows, a.identity, columns, b.identity, options), all, far);
      ScoreTail turned = all_pairs(columns, b.identity, rows, a.identity, options);
      std::swap(turned.genuine_row, turned.genuine_column);
      std::swap(turned.impostor_row, turned.impostor_column);
      expect_tail(turned, all, far);
    }
  }
}

// Lengths whose inverse no float holds.
TEST_P(EachIsa, TinyAndHugeVectorsHaveDirectionsToo) {
  People p = people(200, 48, 40, 1.5);
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    const std::size_t row = i / 48;
    p.values[i] *= row % 3 == 0 ? 1e-38f : row % 3 == 1 ? 1e37f : 1.0f;
  }
  const Listed all = listed(p, p, true);
  AllPairsOptions options;
  options.far = 0.05;
  expect_tail(all_pairs(EmbeddingRows(p.values, p.dim), p.identity, options), all, 0.05);
}

TEST_P(EachIsa, TailOfTheTriangleIsThatOfAllScores) {
  const People p = people(901, 64, 150, 1.5);
  const Listed all = listed(p, p, true);
  AllPairsOptions options;
  for (const double far : {1e-6, 1e-4, 0.01, 0.4}) {
    options.far = far;
    for (const int threads : {1, 2, 5})
      expect_tail(all_pairs(EmbeddingRows(p.values, p.dim), p.identity, options, Job{threads}), all,
                  far);
  }
}

// Large enough for a sample to guess the bound, which is what happens in real use.
TEST_P(EachIsa, TailWithAGuessedBound) {
  const People p = people(2200, 16, 500, 1.2);
  const Listed all = listed(p, p, true);
  AllPairsOptions options;
  options.far = 1e-3;
  expect_tail(all_pairs(EmbeddingRows(p.values, p.dim), p.identity, options), all, options.far);
}

TEST_P(EachIsa, HistogramCountsEveryComparisonOnce) {
  const People p = people(700, 100, 60, 1.5);
  const Listed all = listed(p, p, true);
  AllPairsOptions options;
  options.far = 0.01;
  options.bins = 37;
  const ScoreTail tail = all_pairs(EmbeddingRows(p.values, p.dim), p.identity, options);
  const ScoreHistogram& h = tail.histogram;
  ASSERT_EQ(h.edges.size(), 38u);
  std::int64_t sum = 0, above = 0, exact_above = 0;
  for (std::size_t k = 37; k-- > 0;) {
    std::int64_t exact[2] = {0, 0};
    for (std::size_t i = 0; i < all.scores.size(); ++i)
      exact[all.labels[i]] +=
          all.scores[i] >= h.edges[k] && (all.scores[i] < h.edges[k + 1] || k == 36);
    EXPECT_EQ(h.genuine[k], exact[1]);
    if (h.edges[k] > tail.impostor.back()) {
      EXPECT_EQ(h.impostor[k], exact[0]);
    }
    sum += h.impostor[k];
    above += h.impostor[k];
    exact_above += exact[0];
    // What may have crossed the lower edge of the bin lies within the blur of it.
    std::int64_t near = 0;
    for (const double s : all.scores) near += std::abs(s - h.edges[k]) <= tail.histogram_blur;
    EXPECT_LE(std::abs(above - exact_above), near) << "bin " << k;
  }
  EXPECT_EQ(sum, tail.impostor_count);
  EXPECT_GT(tail.histogram_blur, 0);
  EXPECT_LT(tail.histogram_blur, 0.009);
}

TEST_P(EachIsa, ManyEqualScores) {
  // Twelve directions, each many times: whole classes of equal scores, also at the tail's end.
  People p = people(900, 24, 12, 0);
  for (std::size_t i = 0; i < p.identity.size(); ++i)
    p.identity[i] = static_cast<std::int32_t>(i % 30);
  const Listed all = listed(p, p, true);
  AllPairsOptions options;
  for (const double far : {1e-5, 1e-3, 0.1, 0.5, 1.0}) {
    options.far = far;
    expect_tail(all_pairs(EmbeddingRows(p.values, p.dim), p.identity, options), all, far);
  }
}

// Scores that lie closer together than low precision can tell apart.
TEST_P(EachIsa, CloseScores) {
  People p = people(700, 48, 1, 0.05);
  std::iota(p.identity.begin(), p.identity.end(), 0);
  p.identity[699] = 0;
  const Listed all = listed(p, p, true);
  AllPairsOptions options;
  options.far = 1e-3;
  expect_tail(all_pairs(EmbeddingRows(p.values, p.dim), p.identity, options), all, options.far);
}

TEST_P(EachIsa, OneRowOrOneColumn) {
  const People one = people(1, 20, 3), many = people(777, 20, 3, 2, 5);
  const EmbeddingRows single(one.values, 20), rest(many.values, 20);
  AllPairsOptions options;
  options.far = 0.02;
  expect_tail(all_pairs(single, one.identity, rest, many.identity, options),
              listed(one, many, false), 0.02);
  expect_tail(all_pairs(rest, many.identity, single, one.identity, options),
              listed(many, one, false), 0.02);
  EXPECT_THROW(all_pairs(single, one.identity), std::invalid_argument);
}

// All shards of a matrix, the last first.
template <class MakeShard>
std::vector<AllPairsShard> shards_of(int count, const MakeShard& make) {
  std::vector<AllPairsShard> shards;
  for (int number = count; number > 0; --number) shards.push_back(make(Shard{number, count}));
  return shards;
}

// Few blocks and many, so that some shards are empty; the sample and none; scores that are equal.
TEST_P(EachIsa, MergedShardsAreTheTailOfOneProcess) {
  const People large = people(2200, 16, 500, 1.2), other = people(901, 16, 500, 1.2, 2);
  People equal = people(900, 16, 12, 0);
  for (std::size_t i = 0; i < equal.identity.size(); ++i)
    equal.identity[i] = static_cast<std::int32_t>(i % 30);
  const auto expect_merged = [&](const People& p, double far, int count) {
    const EmbeddingRows rows(p.values, 16), columns(other.values, 16);
    AllPairsOptions options;
    options.far = far;
    options.bins = 37;
    const auto triangle =
        shards_of(count, [&](Shard s) { return all_pairs_shard(rows, p.identity, s, options); });
    EXPECT_EQ(merge_all_pairs(triangle), all_pairs(rows, p.identity, options))
        << "far " << far << ", shards " << count;
    const auto turned = shards_of(count, [&](Shard s) {
      return all_pairs_shard(columns, other.identity, rows, p.identity, s, options);
    });
    EXPECT_EQ(merge_all_pairs(turned),
              all_pairs(columns, other.identity, rows, p.identity, options));
  };
  expect_merged(large, 1e-4, 3);
  expect_merged(large, 0.5, 2);
  expect_merged(equal, 0.01, 2);
  expect_merged(equal, 0.0, 60);
}

TEST(AllPairs, ShardsThatDoNotBelongTogetherAreRefused) {
  const People p = people(300, 16, 30);
  const EmbeddingRows rows(p.values, 16);
  const auto shards = [&](double far = 1e-3) {
    AllPairsOptions options;
    options.far = far;
    return shards_of(3, [&](Shard s) { return all_pairs_shard(rows, p.identity, s, options); });
  };
  const auto expect_refused = [](std::vector<AllPairsShard> some, const std::string& why) {
    try {
      merge_all_pairs(std::move(some));
      ADD_FAILURE() << "merged in spite of: " << why;
    } catch (const std::exception& e) {
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  };
  expect_refused({}, "no shards");
  expect_refused({shards()[1]}, "missing: 1, 3 of 3");
  expect_refused({shards()[0], shards()[1], shards()[1]}, "shard 2 of 3 is there twice");
  expect_refused({shards()[0], shards()[1], shards(0.1)[2]}, "different options");
  std::vector<AllPairsShard> mixed = shards(), poor = shards();
  mixed[1].isa = "another";
  expect_refused(mixed, "shard 2 with another");
  for (AllPairsShard& shard : poor) {
    const std::int64_t impostors = shard.tail.impostor_count;
    shard.tail = {};
    shard.tail.impostor_count = impostors;
  }
  expect_refused(poor, "Another number of shards");
  const auto expect_damage = [&](const std::string& why, auto change) {
    std::vector<AllPairsShard> damaged = shards();
    change(damaged[0]);
    expect_refused(std::move(damaged), "shard 3 of 3: " + why);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_damage("its counts", [](AllPairsShard& s) { s.wanted = 1'000'000'000; });
  expect_damage("its counts", [](AllPairsShard& s) { s.tail.impostor_reach = -1; });
  expect_damage("its bound", [&](AllPairsShard& s) { s.bound = nan; });
  expect_damage("it holds a score", [&](AllPairsShard& s) { s.tail.genuine[0] = nan; });
  expect_damage("its scores", [](AllPairsShard& s) { s.tail.genuine_row.pop_back(); });
  EXPECT_THROW(all_pairs_shard(rows, p.identity, Shard{4, 3}), std::invalid_argument);
}

TEST(AllPairs, OneClassAlone) {
  People p = people(20, 8, 4);
  const EmbeddingRows rows(p.values, 8);
  const ScoreTail genuine = all_pairs(rows, Indices(20, 7));
  EXPECT_EQ(genuine.genuine.size(), 190u);
  EXPECT_EQ(genuine.impostor_count, 0);
  EXPECT_TRUE(genuine.impostor.empty());
  EXPECT_THROW(tar_at_far(genuine, 0.1), std::invalid_argument);
  Indices different(20);
  for (int i = 0; i < 20; ++i) different[i] = i;
  const ScoreTail impostor = all_pairs(rows, different);
  EXPECT_EQ(impostor.impostor_count, 190);
  EXPECT_THROW(tar_at_far(impostor, 0.1), std::invalid_argument);
}

TEST(AllPairs, ATailSaysHowFarItReaches) {
  const People p = people(300, 16, 30);
  AllPairsOptions options;
  options.far = 0.01;
  const ScoreTail tail = all_pairs(EmbeddingRows(p.values, 16), p.identity, options);
  EXPECT_NO_THROW(tar_at_far(tail, 0.01));
  try {
    tar_at_far(tail, 0.02);
    FAIL() << "the tail cannot know";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("a FAR of 0.02"), std::string::npos) << e.what();
  }
  EXPECT_THROW(tar_at_far(tail, 1.5), std::invalid_argument);
}

TEST(AllPairs, RefusesWhatHasNoDirectionAndNamesIt) {
  for (const float bad :
       {0.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    People p = people(50, 16, 5);
    for (int k = 0; k < 16; ++k) p.values[33 * 16 + k] = bad == 0 ? 0 : p.values[33 * 16 + k];
    p.values[33 * 16 + 5] = bad;
    const EmbeddingRows rows(p.values, 16);
    for (const auto& call : std::vector<std::function<void()>>{
             [&] { all_pairs(rows, p.identity); }, [&] { dense_scores(rows, rows); },
             [&] {
               listed_pair_scores(rows, rows, Indices{1, 2}, Indices{3, 33});
             }}) {
      try {
        call();
        ADD_FAILURE() << "accepted";
      } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("row 33"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find(bad == 0 ? "zero" : "not finite"), std::string::npos);
      }
    }
    EXPECT_NO_THROW(listed_pair_scores(rows, rows, Indices{1, 2}, Indices{3, 32}));
  }
}

TEST(AllPairs, TinyAndHugeValues) {
  People p = people(200, 16, 20);
  const Listed all = listed(p, p, true);
  for (const float scale : {1e-30f, 1e30f}) {
    People q = p;
    for (float& v : q.values) v *= scale;
    const Listed other = listed(q, q, true);
    for (std::size_t i = 0; i < all.scores.size(); ++i)
      EXPECT_NEAR(other.scores[i], all.scores[i], 1e-6);
    expect_tail(all_pairs(EmbeddingRows(q.values, 16), q.identity), other, 1e-3);
  }
}

TEST(AllPairs, RefusesWrongUse) {
  const People p = people(10, 8, 2), q = people(10, 4, 2);
  const EmbeddingRows rows(p.values, 8), other(q.values, 4);
  EXPECT_THROW(EmbeddingRows(p.values, 7), std::invalid_argument);
  EXPECT_THROW(EmbeddingRows(p.values, 0), std::invalid_argument);
  EXPECT_THROW(all_pairs(rows, p.identity, other, q.identity), std::invalid_argument);
  EXPECT_THROW(dense_scores(rows, other), std::invalid_argument);
  EXPECT_THROW(all_pairs(rows, Indices(9, 1)), std::invalid_argument);
  EXPECT_THROW(listed_pair_scores(rows, rows, Indices{0}, Indices{10}), std::out_of_range);
  EXPECT_THROW(listed_pair_scores(rows, rows, Indices{-1}, Indices{1}), std::out_of_range);
  EXPECT_THROW(listed_pair_scores(rows, rows, Indices{1}, Indices{}), std::invalid_argument);
  AllPairsOptions options;
  options.far = 2;
  EXPECT_THROW(all_pairs(rows, p.identity, options), std::invalid_argument);
}

TEST(AllPairs, StopsWhenAsked) {
  const People p = people(3000, 32, 100);
  Job job{2};
  job.poll = [] { throw Cancelled(); };
  EXPECT_THROW(all_pairs(EmbeddingRows(p.values, 32), p.identity, {}, job), Cancelled);
}

TEST(TarAtFars, AreThoseOfSortedScores) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed, "tar_at_fars");
    const auto n = 2 + random.below(400);
    // From scores that are all different to heavy ties, of both signs.
    const double steps = std::pow(10, static_cast<double>(random.below(4)));
    std::vector<double> scores;
    std::vector<std::uint8_t> labels;
    std::vector<float> single;
    for (std::uint64_t i = 0; i < n; ++i) {
      labels.push_back(i < 2 ? i : random.below(3) == 0);
      double s = random.normal() + labels.back();
      if (seed % 2) s = std::round(s * steps) / steps;
      single.push_back(static_cast<float>(s));
      scores.push_back(seed % 5 ? s : -0.0);
    }
    std::vector<double> fars{0, 1, 0.5, 0.1, 1e-9};
    for (int k = 0; k < 8; ++k)
      fars.push_back(k % 2 ? random.uniform() : static_cast<double>(random.below(n)) / n);
    const std::vector<TarAtFar> cells = tar_at_fars(scores, labels, fars, Job{2});
    const Comparisons comparisons(scores, labels);
    const std::vector<TarAtFar> singles = tar_at_fars(single, labels, fars);
    const Comparisons narrow(std::vector<double>(single.begin(), single.end()), labels);
    for (std::size_t k = 0; k < fars.size(); ++k) {
      expect_equal(cells[k], tar_at_far(comparisons, fars[k]));
      expect_equal(singles[k], tar_at_far(narrow, fars[k]));
    }
  }
}

TEST(TarAtFars, NamesTheFirstIndexAtFault) {
  std::vector<double> scores(200'000, 0.5);
  std::vector<std::uint8_t> labels(200'000, 0);
  labels[0] = 1;
  scores[150'000] = scores[90'001] = std::nan("");
  const std::vector<double> fars{0.1};
  try {
    tar_at_fars(scores, labels, fars, Job{3});
    FAIL() << "accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("score [90001]"), std::string::npos) << e.what();
  }
  scores.assign(200'000, 0.5);
  labels[7] = 2;
  EXPECT_THROW(tar_at_fars(scores, labels, fars), std::invalid_argument);
  labels.assign(200'000, 0);
  EXPECT_THROW(tar_at_fars(scores, labels, fars), std::invalid_argument);
  EXPECT_THROW(tar_at_fars(scores, std::vector<std::uint8_t>(3), fars), std::invalid_argument);
}

}  // namespace
}  // namespace facebench
