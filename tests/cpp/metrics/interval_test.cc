#include "facebench/metrics/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "facebench/core/error.h"
#include "facebench/core/random.h"
#include "facebench/metrics/accuracy.h"

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

TEST(Interval, NormalQuantile) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(0.025), -1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-12);
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_THROW(normal_quantile(1), std::invalid_argument);
}

TEST(Interval, Wilson) {
  const Interval i = wilson(9, 10);
  EXPECT_NEAR(i.low, 0.5958499732, 1e-9);
  EXPECT_NEAR(i.high, 0.9821237869, 1e-9);
  EXPECT_EQ(wilson(10, 10).high, 1);
  EXPECT_EQ(wilson(0, 10).low, 0);
  EXPECT_NEAR(wilson(10, 10).low, 1 - wilson(0, 10).high, 1e-11);
  EXPECT_THROW(wilson(3, 2), std::invalid_argument);
  EXPECT_THROW(wilson(1, 2, 1.0), std::invalid_argument);
}

TEST(Components, JoinWhatSharesAnIdentityWithinAFold) {
  const std::vector<std::int32_t> first{0, 1, 5, 2, 0}, second{0, 2, 5, 3, 3}, folds{4, 4, 4, 4, 9};
  const Components c = connected_components({first, second, folds});
  EXPECT_EQ(c.of_comparison, (std::vector<std::int32_t>{0, 1, 2, 1, 3}));
  EXPECT_EQ(c.fold, (std::vector<std::int32_t>{0, 0, 0, 1}));
  EXPECT_EQ(c.identities, 5);
  EXPECT_EQ(c.largest, 2);
  // Without folds the last comparison joins 0 with 3.
  EXPECT_EQ(connected_components({first, second, {}}).of_comparison,
            (std::vector<std::int32_t>{0, 0, 1, 0, 0}));
}

TEST(Bootstrap, SameBitsForAnyNumberOfThreads) {
  const Sparse data(1);
  const auto c = data.comparisons();
  const std::vector<Statistic> statistics{auc_statistic(c), eer_statistic(c),
                                          tar_at_far_statistic(c, 0.1), accuracy_statistic(c)};
  BootstrapOptions options;
  options.replicates = 100;
  for (const Resampling resampling : {Resampling::components, Resampling::vertices}) {
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
