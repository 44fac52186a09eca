#include <gtest/gtest.h>

#include "facebench/evaluation/evaluate.h"
#include "facebench/trials/listed_trials.h"
#include "trials/random_people.h"

// The mean over tracks draws people once for all of them.
namespace facebench {
namespace {

constexpr int kImagesEach = 4;

// All pairs of the images of people begin, ..., end - 1.
ListedTrials pairs_of(const TrialSet& set, int begin, int end) {
  ListedTrials list;
  for (std::int32_t i = begin * kImagesEach; i < end * kImagesEach; ++i)
    for (std::int32_t j = begin * kImagesEach; j < i; ++j) {
      list.comparisons.push_back({i, j});
      list.genuine.push_back(set.identity[static_cast<std::size_t>(i)] ==
                             set.identity[static_cast<std::size_t>(j)]);
    }
  return list;
}

struct Splits {
  TrialSet trials;
  EmbeddingSet embeddings;
  ProtocolSpec spec = protocol_by_hand(R"(
summary = "mean"
[[metrics]]
name = "auc"
[[metrics]]
name = "tar_at_far"
targets = [0.05]
)");

  explicit Splits(const std::vector<std::pair<int, int>>& people) {
    RandomPeople{60, kImagesEach, 8, 1, 7, 1.5}.fill(trials, embeddings);
    for (const auto& [begin, end] : people)
      trials.tracks.push_back(
          {"split" + std::to_string(trials.tracks.size()), pairs_of(trials, begin, end)});
    trials.check();
  }
  Result result(const std::string& interval = "dyadic") const {
    EvaluationOptions options;
    options.replicates = 200;
    options.interval = interval;
    return evaluate(under(spec, trials), embeddings, options);
  }
};

double width(const Number& cell) { return cell.interval->high - cell.interval->low; }

TEST(MeanInterval, OfTheSameSplitThriceIsThatOfTheSplit) {
  const Result r = Splits({{0, 20}, {0, 20}, {0, 20}}).result();
  for (const char* name : {"auc", "tar@far=0.05"}) {
    const Number &one = r.track("split0").number(name), &mean = r.track("mean").number(name);
    ASSERT_TRUE(mean.interval) << name;
    EXPECT_NEAR(mean.interval->low, one.interval->low, 1e-11) << name;
    EXPECT_NEAR(mean.interval->high, one.interval->high, 1e-11) << name;
    EXPECT_EQ(mean.interval->method, "dyadic_bootstrap_logit_t");
  }
}

TEST(MeanInterval, OfSplitsWithPeopleOfTheirOwnIsShorter) {
  const Result r = Splits({{0, 20}, {20, 40}, {40, 60}}).result();
  const Number& mean = r.track("mean").number("auc");
  double widest = 0;
  for (std::size_t t = 0; t < 3; ++t) widest = std::max(widest, width(r.tracks[t].number("auc")));
  EXPECT_LT(width(mean), 0.8 * widest);
  EXPECT_LE(mean.interval->low, mean.value);
  EXPECT_GE(mean.interval->high, mean.value);
}

TEST(MeanInterval, OneSplitAloneHasNoMean) {
  const Result r = Splits({{0, 20}}).result();
  EXPECT_EQ(r.tracks.size(), 1u);
  EXPECT_THROW(r.track("mean"), std::invalid_argument);
}

TEST(MeanInterval, EarlierMethodsHaveNoneAndDoNotSayWhy) {
  const Result r = Splits({{0, 20}, {20, 40}}).result("vertex");
  const Json cell = metrics_json(r)["tracks"]["mean"]["metrics"]["auc"];
  EXPECT_TRUE(cell["interval"].is_null());
  EXPECT_FALSE(cell.contains("no_interval"));
}

}  // namespace
}  // namespace facebench
