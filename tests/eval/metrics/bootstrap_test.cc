#include "facebench/metrics/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "facebench/core/error.h"
#include "facebench/core/random.h"

namespace facebench {
namespace {

// LFW's shape: per fold pairs of a few dozen identities of its own.
struct Sparse {
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  std::vector<std::int32_t> folds, first, second;

  explicit Sparse(std::uint64_t seed, int fold_count = 5, int pairs = 60, int identities = 50) {
    Random random(seed, "sparse");
    for (int k = 0; k < fold_count; ++k)
      for (int p = 0; p < pairs; ++p) {
        const bool genuine = p % 2 == 0;
        const auto a = static_cast<std::int32_t>(random.below(identities));
        const auto b =
            static_cast<std::int32_t>((a + 1 + random.below(identities - 1)) % identities);
        first.push_back(k * identities + a);
        second.push_back(k * identities + (genuine ? a : b));
        labels.push_back(genuine);
        folds.push_back(k);
        scores.push_back((genuine ? 0.6 : 0.2) + 0.15 * random.normal());
      }
  }
  ComparisonGraph graph() const { return {first, second, folds}; }
  std::shared_ptr<const Comparisons> comparisons() const {
    return std::make_shared<Comparisons>(scores, labels, folds);
  }
};

Interval bootstrap_interval(const ComparisonGraph& graph, Resampling resampling,
                            const Statistic& statistic, const BootstrapOptions& options = {},
                            const Job& job = {}) {
  return Bootstrap(graph, resampling).intervals(std::span(&statistic, 1), options, job).front();
}

TEST(Bootstrap, SameBitsForAnyNumberOfThreads) {
  const Sparse data(1);
  const auto c = data.comparisons();
  const std::vector<Statistic> statistics{auc_statistic(c), eer_statistic(c),
                                          tar_at_far_statistic(c, 0.1), accuracy_statistic(c)};
  BootstrapOptions options;
  options.replicates = 100;
  for (const Resampling resampling :
       {Resampling::components, Resampling::vertices, Resampling::dyadic}) {
    const Bootstrap bootstrap(data.graph(), resampling);
    const auto one = bootstrap.intervals(statistics, options, Job{1});
    const auto four = bootstrap.intervals(statistics, options, Job{4});
    const std::vector<Weight> once(data.scores.size(), 1);
    for (std::size_t s = 0; s < statistics.size(); ++s) {
      EXPECT_EQ(one[s].low, four[s].low) << statistics[s].name;
      EXPECT_EQ(one[s].high, four[s].high) << statistics[s].name;
      EXPECT_LT(one[s].low, statistics[s].evaluate(once)) << statistics[s].name;
      EXPECT_GT(one[s].high, statistics[s].evaluate(once)) << statistics[s].name;
    }
    options.seed = 1;
    EXPECT_NE(bootstrap.intervals(statistics, options, Job{1})[0].low, one[0].low);
    options.seed = 0;
  }
}

TEST(Bootstrap, ComponentsAreDrawnWholeAndWithinTheirFold) {
  const Sparse data(2);
  const Components components = connected_components(data.graph());
  std::vector<int> in_fold(5, 0);
  for (const std::int32_t f : components.fold) ++in_fold[f];
  const Statistic inspect{"inspect", [&](std::span<const Weight> w) {
                            std::vector<std::int64_t> drawn(components.count(), -1);
                            bool fine = true;
                            for (std::size_t i = 0; i < w.size(); ++i) {
                              auto& d = drawn[components.of_comparison[i]];
                              fine = fine && (d < 0 || d == w[i]);
                              d = w[i];
                            }
                            std::vector<std::int64_t> sum(5, 0);
                            for (int c = 0; c < components.count(); ++c)
                              sum[components.fold[c]] += drawn[c];
                            for (int f = 0; f < 5; ++f) fine = fine && sum[f] == in_fold[f];
                            return fine ? 1.0 : 0.5;
                          }};
  const Interval i = bootstrap_interval(data.graph(), Resampling::components, inspect);
  EXPECT_EQ(i.method, "wilson_over_components");  // all replicates gave 1
  EXPECT_EQ(i.high, 1);
  EXPECT_EQ(i.low, wilson(components.count(), components.count()).low);
}

TEST(Bootstrap, VertexWeightsAreProducts) {
  // All pairs of 4 identities and each with itself.
  std::vector<std::int32_t> first, second;
  for (int a = 0; a < 4; ++a)
    for (int b = a; b < 4; ++b) {
      first.push_back(a);
      second.push_back(b);
    }
  const Statistic inspect{"inspect", [&](std::span<const Weight> w) {
                            std::vector<Weight> self(4);
                            Weight sum = 0;
                            for (std::size_t i = 0; i < w.size(); ++i)
                              if (first[i] == second[i]) sum += self[first[i]] = w[i];
                            bool fine = sum == 4;
                            for (std::size_t i = 0; i < w.size(); ++i)
                              if (first[i] != second[i])
                                fine = fine && w[i] == self[first[i]] * self[second[i]];
                            return fine ? 1.0 : 0.5;
                          }};
  EXPECT_EQ(bootstrap_interval({first, second, {}}, Resampling::vertices, inspect).method,
            "wilson_over_identities");
}

TEST(Bootstrap, OpposedReplicatesLeaveOutWhatSinglePairsCountTooOften) {
  // Values that are known: half of a difference has variance 4, half of a sum variance 1.
  const std::vector<double> values = {3, -1, 1, -3, 3, -1, 1, -3};
  Replicates r;
  r.method = "dyadic_bootstrap";
  r.opposed = true;
  r.points = {0};
  r.values = {values};
  r.freedom = {1e9};
  Statistic number;
  number.rate = false;
  const auto half = [&] { return interval_of(r, 0, number, 0.95).high; };
  const double z = normal_quantile(0.975);
  EXPECT_NEAR(half(), z * std::sqrt(4 - 4.0 / 3), 1e-6);
  // Never below a third of the sum.
  r.values = {{2, 2, -2, -2}};
  EXPECT_NEAR(half(), z * std::sqrt(8.0 / 3), 1e-6);
  // A pair of which one is undefined is left out whole.
  r.values = {{3, -1, 1, std::nan(""), 1, -3, 1, -3, 3, -1}};
  EXPECT_NEAR(half(), z * std::sqrt(4 - 4.0 / 3), 1e-6);
  EXPECT_EQ(interval_of(r, 0, number, 0.95).undefined, 2);
}

// Genuine comparisons of people of their own, and impostor ones of other people.
struct Apart {
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  std::vector<std::int32_t> first, second;

  Apart(int genuine, int impostor, int images = 1) {
    for (int k = 0; k < genuine; ++k) add(1 + 0.001 * k, k / images, k / images);
    for (int k = 0; k < impostor; ++k) add(0.0001 * k, genuine + 2 * k, genuine + 2 * k + 1);
  }
  void add(double score, int a, int b) {
    scores.push_back(score);
    labels.push_back(a == b);
    first.push_back(a);
    second.push_back(b);
  }
  Interval interval(Statistic (*statistic)(std::shared_ptr<const ScoreSet>)) const {
    return bootstrap_interval({first, second, {}}, Resampling::dyadic,
                              statistic(std::make_shared<Comparisons>(scores, labels)));
  }
};

Statistic tar_at_one_percent(std::shared_ptr<const ScoreSet> scores) {
  return tar_at_far_statistic(std::move(scores), 0.01);
}

TEST(Bootstrap, TrialsOfARateWithoutErrorsAreThePeopleThatItCounts) {
  // 2,050 people are compared, and the TAR counts 50 of them.
  const Interval i = Apart(50, 1000).interval(tar_at_one_percent);
  EXPECT_EQ(i.method, "wilson_over_identities");
  EXPECT_DOUBLE_EQ(i.low, wilson(50, 50).low);
  EXPECT_EQ(i.high, 1);
  EXPECT_EQ(i.note, kAtLeast);
  // Five images of each: ten people.
  EXPECT_DOUBLE_EQ(Apart(50, 1000, 5).interval(tar_at_one_percent).low, wilson(10, 10).low);
  // AUC and EER: the class that has fewer.
  EXPECT_DOUBLE_EQ(Apart(500, 30).interval(auc_statistic).low, wilson(30, 30).low);
  EXPECT_DOUBLE_EQ(Apart(500, 30).interval(eer_statistic).high, wilson(0, 30).high);
  EXPECT_DOUBLE_EQ(Apart(40, 500).interval(auc_statistic).low, wilson(40, 40).low);
}

TEST(Bootstrap, ReplicatesThatMoveAPerfectRateMakeTrialsFewer) {
  Apart data(50, 1000);
  // Drawn twice, a few impostors move the threshold above these.
  for (int k = 0; k < 12; ++k) data.scores[static_cast<std::size_t>(k)] = 0.09895 + 1e-6 * k;
  const Interval i = data.interval(tar_at_one_percent);
  EXPECT_EQ(i.method, "wilson_over_identities");
  EXPECT_EQ(i.high, 1);
  EXPECT_LT(i.low, wilson(50, 50).low - 0.05);
  EXPECT_GT(i.low, 0.3);
}

TEST(Bootstrap, OneErrorReachesAsFarAsTheExactInterval) {
  Apart data(100, 1000);
  data.scores[0] = 0;
  const Interval i = data.interval(tar_at_one_percent);      // 99 of 100
  EXPECT_NEAR(1 - i.high, 1 - std::pow(0.975, 0.01), 1e-9);  // R's binom.test(1, 100): 2.53e-4
  EXPECT_NEAR(1 - i.high, 2.53e-4, 1e-6);
  EXPECT_EQ(i.note, kAtLeast);
}

TEST(Bootstrap, AnAucOfOneBadComparisonHasADeLongInterval) {
  // Below 108 of 300 impostors: AUC .9988. DeLong's interval on the logit scale is [.9915, .9998],
  // and Wilson's of .36 errors in 300 trials begins at .98508268356.
  Apart data(300, 300);
  data.scores[0] = 0.01915;
  const Interval i = data.interval(auc_statistic);
  EXPECT_EQ(i.method, "dyadic_bootstrap_logit_t_within_wilson");
  EXPECT_NEAR(i.low, 0.98508268356, 1e-10);
  EXPECT_GT(i.high, 0.9998);
  EXPECT_LT(i.high, 1);
  EXPECT_EQ(i.note, kAtLeast);
}

TEST(Bootstrap, FewPeopleAreNotedAndTheMiddleIsNot) {
  const Sparse data(5);
  const auto c = data.comparisons();
  EXPECT_EQ(bootstrap_interval(data.graph(), Resampling::dyadic, eer_statistic(c)).note, "");
  const Sparse few(5, 1, 200, 39);
  EXPECT_EQ(
      bootstrap_interval(few.graph(), Resampling::dyadic, eer_statistic(few.comparisons())).note,
      kNotOfFewPeople);
}

TEST(Bootstrap, CountsUndefinedReplicates) {
  const Sparse data(3);
  const Statistic sometimes{"sometimes", [](std::span<const Weight> w) {
                              return w[0] == 0 ? std::nan("") : 0.5 + 0.01 * w[1];
                            }};
  const Interval i = bootstrap_interval(data.graph(), Resampling::components, sometimes);
  EXPECT_GT(i.undefined, 200);  // about exp(-1) of 1000
  EXPECT_LT(i.undefined, 550);
  EXPECT_FALSE(std::isnan(i.low));
}

TEST(Bootstrap, RefusesWhatItCannotResample) {
  const std::vector<std::int32_t> first{0, 1, 2}, second{1, 2, 0};
  const Statistic half{"half", [](std::span<const Weight>) { return 0.5; }};
  EXPECT_THROW(bootstrap_interval({first, second, {}}, Resampling::components, half),
               std::invalid_argument);
  const Sparse data(4);
  const Statistic undefined{"undefined", [](std::span<const Weight>) { return std::nan(""); }};
  EXPECT_THROW(bootstrap_interval(data.graph(), Resampling::components, undefined),
               std::invalid_argument);
  BootstrapOptions options;
  options.replicates = 1;
  EXPECT_THROW(bootstrap_interval(data.graph(), Resampling::components, half, options),
               std::invalid_argument);
  Job job{2};
  job.poll = [] { throw Cancelled(); };
  EXPECT_THROW(bootstrap_interval(data.graph(), Resampling::components,
                                  accuracy_statistic(data.comparisons()), {}, job),
               Cancelled);
}

}  // namespace
}  // namespace facebench
