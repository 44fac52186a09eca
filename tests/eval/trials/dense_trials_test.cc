#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "evaluation/expect_same.h"
#include "facebench/analysis/trial_pairs.h"
#include "facebench/core/error.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/io/file.h"
#include "facebench/io/hdf5.h"
#include "facebench/metrics/many_comparisons.h"
#include "facebench/metrics/roc.h"
#include "facebench/metrics/tail_bounds.h"
#include "facebench/metrics/tar_at_far.h"
#include "facebench/runs/run_folder.h"
#include "facebench/runs/verify.h"
#include "facebench/trials/dense_trials.h"
#include "facebench/trials/measurable.h"
#include "lists/tiny_lfw.h"
#include "trials/random_people.h"

// Tracks whose scores are too many to keep, against the same track with all scores kept.
namespace facebench {
namespace {

constexpr int kPeople = 50, kImages = 6, kDim = 24;

struct AllPairsSet {
  TrialSet trials;
  ProtocolSpec spec;
  EmbeddingSet embeddings;

  // A triangle over all images, and the even ones against the odd ones.
  explicit AllPairsSet(std::uint64_t seed = 3, int failed = 0) {
    RandomPeople{kPeople, kImages, kDim, 1, seed, 1.1}.fill(trials, embeddings);
    DenseTrials triangle, cross;
    for (std::int32_t i = 0; i < kPeople * kImages; ++i) {
      triangle.rows.push_back(i);
      (i % kImages % 2 ? cross.rows : cross.columns).push_back(i);
      if (i % 37 < failed) fail_sample(embeddings, i);
    }
    triangle.columns = triangle.rows;
    triangle.triangle = true;
    cross.rows.resize(cross.rows.size() - 30);  // more columns than rows
    trials.tracks = {{"all", triangle}, {"cross", cross}};
    trials.check();
    spec = protocol_by_hand(R"(
[[metrics]]
name = "auc"
[[metrics]]
name = "eer"
[[metrics]]
name = "tar_at_far"
targets = [0.001, 0.02]
[[metrics]]
name = "threshold_at_far"
targets = [0.01]
)");
  }
};

EvaluationOptions stored() {
  EvaluationOptions o;
  o.replicates = 60;
  return o;
}
EvaluationOptions shortened() {
  EvaluationOptions o = stored();
  o.stored_scores = 1000;
  return o;
}

class EachPolicy : public testing::TestWithParam<std::tuple<int, std::string>> {};
INSTANTIATE_TEST_SUITE_P(Failures, EachPolicy,
                         testing::Combine(testing::Values(0, 4),
                                          testing::Values("lowest_score", "drop")));

TEST_P(EachPolicy, TheTailGivesTheNumbersOfAllScores) {
  const auto [failed, policy] = GetParam();
  const AllPairsSet set(3, failed);
  EvaluationOptions all = stored(), few = shortened();
  all.failed_enrolments = few.failed_enrolments = policy;
  const Result a = evaluate(under(set.spec, set.trials), set.embeddings, all);
  const Result b = evaluate(under(set.spec, set.trials), set.embeddings, few);
  for (std::size_t t = 0; t < 2; ++t) {
    const TrackResult &x = a.tracks[t], &y = b.tracks[t];
    ASSERT_EQ(y.kind, "dense");
    EXPECT_LT(b.scores[t].tail->impostor.size(), static_cast<std::size_t>(x.impostor) / 10);
    expect_same_counts(x, y);
    for (const char* name : {"tar@far=0.001", "tar@far=0.02", "threshold@far=0.01"}) {
      expect_same_number(x.number(name), y.number(name));
      ASSERT_TRUE(y.number(name).interval) << name;
      EXPECT_EQ(y.number(name).interval->undefined, 0) << name;
    }
    for (const char* name : {"auc", "eer"}) {
      const Number& d = y.number(name);
      ASSERT_TRUE(d.from_histogram && d.bounds) << name;
      EXPECT_LE(d.bounds->low, x.number(name).value) << name;
      EXPECT_GE(d.bounds->high, x.number(name).value) << name;
      EXPECT_LT(d.bounds->high - d.bounds->low, 0.05) << name;
      EXPECT_FALSE(d.interval) << name;
      EXPECT_NE(d.no_interval, "") << name;
      EXPECT_EQ(x.number(name).no_interval, "") << name;
    }
  }
}

TEST(AllPairsTrials, ATargetBelowTheTailIsBoundedByTheHistogram) {
  const AllPairsSet set;
  const Result a = evaluate(under(set.spec, set.trials), set.embeddings, stored());
  // A tail of a single bin's width, made by hand: what 1e10 comparisons would be asked for.
  Result b = evaluate(under(set.spec, set.trials), set.embeddings, shortened());
  ScoreTail tail = *b.scores[0].tail;
  for (const double far : {0.05, 0.2, 0.6}) {
    const TarBounds bounds = tar_bounds(tail, far);
    std::vector<double> scores;
    std::vector<std::uint8_t> labels;
    visit_scores(*a.trials.tracks[0].trials, {a.trials, a.scores[0], "", {}},
                 [&](double score, bool is_genuine) {
                   scores.push_back(score);
                   labels.push_back(is_genuine);
                 });
    const TarAtFar exact = tar_at_far(Comparisons(scores, labels), far);
    EXPECT_LE(bounds.tar.low, exact.value);
    EXPECT_GE(bounds.tar.high, exact.value);
    EXPECT_LT(bounds.tar.high - bounds.tar.low, 0.05);
    EXPECT_LE(bounds.far_achieved, far);
    // The threshold keeps what it promises.
    std::int64_t genuine = 0, impostor = 0;
    for (std::size_t k = 0; k < scores.size(); ++k)
      if (scores[k] >= bounds.threshold) ++(labels[k] ? genuine : impostor);
    EXPECT_LE(impostor, bounds.false_accepts);
    EXPECT_EQ(genuine, bounds.genuine_accepted);
  }
  EXPECT_THROW(tar_bounds(tail, 1.5), std::invalid_argument);
  // The curve of the tail ends: what needs all of it is refused.
  const Measurable kept =
      b.trials.tracks[0].trials->measurable({b.trials, b.scores[0], "", {}}, {});
  EXPECT_THROW(auc(kept.scores->roc()), std::invalid_argument);
  EXPECT_THROW(eer(kept.scores->roc()), std::invalid_argument);
  EXPECT_THROW(tar_at_far(*kept.scores, 0.6), std::invalid_argument);
  tail.histogram = {};
  EXPECT_THROW(auc_bounds(tail), std::invalid_argument);
}

TEST(AllPairsTrials, TheRunFolderHoldsWhatVerificationNeeds) {
  const AllPairsSet set(3, 2);
  const TinyLfw place;
  const Result r = evaluate(under(set.spec, set.trials), set.embeddings, shortened());
  write_run_files(place.root(), r);
  const RunScores read = read_scores(place.root() / "scores.h5");
  EXPECT_EQ(read.scores, r.scores);
  write_embeddings(place.root() / "embeddings.h5", set.embeddings);
  auto checks = verify_scores(place.root());
  EXPECT_TRUE(all_same(checks));
  EXPECT_EQ(std::ranges::count(checks, "scores from embeddings.h5", &Check::name), 1);
  // Other embeddings give other scores.
  write_embeddings(place.root() / "embeddings.h5", AllPairsSet(4, 2).embeddings);
  EXPECT_FALSE(all_same(verify_scores(place.root())));
}

TEST(AllPairsTrials, CurvesAndPairingKnowThem) {
  const AllPairsSet set, other(4);
  const TinyLfw first, second;
  const Result result = evaluate(under(set.spec, set.trials), set.embeddings, shortened());
  write_run_files(first.root(), result);
  write_run_files(second.root(),
                  evaluate(under(other.spec, other.trials), other.embeddings, shortened()));
  const RunScores a = read_scores(first.root() / "scores.h5");
  const RunScores b = read_scores(second.root() / "scores.h5");
  const std::vector<TrackCurves>& curves = result.curves;
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].roc.front().far, 0);
  EXPECT_EQ(curves[0].roc.back().far, 1);
  EXPECT_EQ(curves[0].roc.back().tar, 1);
  EXPECT_TRUE(std::ranges::is_sorted(curves[0].roc, {}, &RocPoint::far));
  EXPECT_LE(curves[0].scores.impostor.size(), 60u);
  auto pairs = track_pairs(a, b);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_TRUE(pairs[0].same);
  EXPECT_FALSE(pairs[0].same_scores);
  EXPECT_TRUE(track_pairs(a, a)[0].same_scores);
}

// With all scores at hand a dense track has a CMC where the protocol asks for ranks.
TEST(AllPairsTrials, DenseTracksHaveACmc) {
  const AllPairsSet set;
  const TinyLfw place;
  const ProtocolSpec ranked = parse_protocol(
      set.spec.text + "[[metrics]]\nname = \"rank\"\ntargets = [1, 5]\n", "ranked.toml");
  const Result r = evaluate(under(ranked, set.trials), set.embeddings, stored());
  write_run_files(place.root(), r);
  const auto curves = read_curves(read_run(place.root()));
  EXPECT_TRUE(curves[0].cmc.empty());  // a triangle is not a search
  ASSERT_GE(curves[1].cmc.size(), 5u);
  EXPECT_EQ(curves[1].cmc[0], r.tracks[1].number("rank@1").value);
  EXPECT_EQ(curves[1].cmc[4], r.tracks[1].number("rank@5").value);
}

TEST(AllPairsTrials, DamagedTailsAreRefused) {
  const AllPairsSet set;
  const Result r = evaluate(under(set.spec, set.trials), set.embeddings, shortened());
  const ScoreTail good = *r.scores[0].tail;
  check_tail(good);
  const auto refused = [&](auto change) {
    ScoreTail bad = good;
    change(bad);
    EXPECT_THROW(check_tail(bad), std::invalid_argument);
  };
  refused([](ScoreTail& t) { std::swap(t.genuine.front(), t.genuine.back()); });
  refused([](ScoreTail& t) { t.impostor.front() = std::nan(""); });
  refused([](ScoreTail& t) { t.genuine_row.pop_back(); });
  refused([](ScoreTail& t) { t.impostor_column.pop_back(); });
  refused([](ScoreTail& t) { t.impostor_count = 1; });
  refused([](ScoreTail& t) { t.histogram.impostor[7] += 1; });
  refused([](ScoreTail& t) { t.histogram.impostor[7] = -1; });
  refused([](ScoreTail& t) { t.histogram.edges[1] = t.histogram.edges[0]; });
  refused([](ScoreTail& t) { t.histogram_blur = -1; });
  // Indices are checked against the rows and columns that they are of.
  ScoreTail bad = good;
  bad.genuine_row[0] = 300;
  const std::vector<std::int32_t> people(300, 0);
  EXPECT_THROW(ManyComparisons(bad, TailSides{people, people, true, {}, {}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace facebench
