#include <gtest/gtest.h>

#include <cmath>

#include "facebench/core/random.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/roc.h"
#include "facebench/metrics/tar_at_far.h"
#include "facebench/trials/listed_trials.h"
#include "trials/random_people.h"

// A list that is too long to be sorted for each metric, against the same comparisons sorted.
namespace facebench {
namespace {

constexpr int kManyPeople = 60, kManyImages = 25, kManyDim = 8;

struct ManyPairs {
  TrialSet trials;
  EmbeddingSet embeddings;
  ProtocolSpec spec;

  ManyPairs() {
    RandomPeople{kManyPeople, kManyImages, kManyDim, 1, 7, 1.5}.fill(trials, embeddings);
    // Every pair of images, so all people are one component.
    ListedTrials list;
    for (std::int32_t i = 0; i < kManyPeople * kManyImages; ++i)
      for (std::int32_t j = 0; j < i; ++j) {
        list.comparisons.push_back({i, j});
        list.genuine.push_back(trials.identity[i] == trials.identity[j]);
      }
    trials.tracks = {{"many", std::move(list)}};
    trials.check();
    spec = protocol_by_hand(R"(
[[metrics]]
name = "auc"
[[metrics]]
name = "eer"
[[metrics]]
name = "tar_at_far"
targets = [0.0001, 0.01]
)");
  }
};

TEST(ManyPairs, GiveTheNumbersAndIntervalsOfTheSortedList) {
  const ManyPairs set;
  EvaluationOptions options;
  options.replicates = 20;
  const Result r = evaluate(under(set.spec, set.trials), set.embeddings, options);
  const auto& list = trials_of<ListedTrials>(set.trials.tracks[0]);
  ASSERT_GT(list.comparisons.size(), std::size_t{1} << 20);
  const auto& scores = r.scores[0].each;
  const auto sorted = std::make_shared<const Comparisons>(scores, list.genuine);
  const TrackResult& track = r.tracks[0];
  EXPECT_EQ(track.genuine, sorted->genuine());
  EXPECT_EQ(track.number("auc").value, auc(sorted->roc()));
  EXPECT_NEAR(track.number("eer").value, eer(sorted->roc()), 1e-14);
  std::vector<std::int32_t> first, second;
  for (const Comparison& c : list.comparisons) {
    first.push_back(set.trials.identity[static_cast<std::size_t>(c.first)]);
    second.push_back(set.trials.identity[static_cast<std::size_t>(c.second)]);
  }
  const Bootstrap people({first, second, {}}, Resampling::dyadic);
  for (const double far : {0.0001, 0.01}) {
    const Number& cell = track.number(far == 0.01 ? "tar@far=0.01" : "tar@far=0.0001");
    const TarAtFar wanted = tar_at_far(*sorted, far);
    EXPECT_EQ(cell.value, wanted.value);
    EXPECT_EQ(std::get<TarAtFar>(cell.counts).threshold, wanted.threshold);
    EXPECT_EQ(std::get<TarAtFar>(cell.counts).false_accepts, wanted.false_accepts);
    const std::vector<Statistic> one = {tar_at_far_statistic(sorted, far)};
    const Interval interval = people.intervals(one, {20, 0.95, 0}).front();
    ASSERT_TRUE(cell.interval);
    EXPECT_NEAR(cell.interval->low, interval.low, 1e-11);
    EXPECT_NEAR(cell.interval->high, interval.high, 1e-11);
  }
}

}  // namespace
}  // namespace facebench
