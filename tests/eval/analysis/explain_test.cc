#include <gtest/gtest.h>

#include <filesystem>

#include "facebench/analysis/explain.h"
#include "facebench/core/error.h"
#include "facebench/runs/save.h"
#include "lists/tiny_lfw.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// The eight comparisons of TinyLfw with scores by hand; the causes one by one are tested from
// Python.
class TwoRuns : public testing::Test {
 protected:
  fs::path save(const std::string& name, const std::vector<double>& scores,
                const EvaluationOptions& options = {}) {
    const TrialSet t = read_trials(tiny_.spec(), {tiny_.root()});
    EvaluationOptions o = options;
    o.interval = "none";
    save_run(tiny_.root() / name, evaluate_scores(t, scores, {}, o));
    return tiny_.root() / name;
  }
  RunScores read(const fs::path& run) { return read_scores(run / "scores.h5"); }

  TinyLfw tiny_;
  const std::vector<double> good_ = {.9, .8, .1, .2, .9, .8, .1, .2};
  const std::vector<double> bad_ = {.1, .8, .9, .2, .9, .2, .1, .8};
};

TEST_F(TwoRuns, PairsOfTheSameListAreAllInPlace) {
  const RunScores a = read(save("a", good_)), b = read(save("b", bad_));
  const auto pairs = track_pairs(a, b);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_TRUE(pairs[0].same);
  EXPECT_FALSE(pairs[0].same_scores);
  EXPECT_EQ(pairs[0].common, 8);
  EXPECT_TRUE(track_pairs(a, a)[0].same_scores);
  EXPECT_TRUE(trial_agreement(a, a, track_pairs(a, a)).scores);
  EXPECT_FALSE(trial_agreement(a, b, pairs).scores);
  EXPECT_TRUE(trial_agreement(a, b, pairs).comparisons);
}

TEST_F(TwoRuns, PairsOfAnotherListAreFoundByNameLabelAndFold) {
  const RunScores a = read(save("a", good_));
  // The first two pairs change places (same fold), and Dan's pair is of another photograph.
  tiny_.replace("Ann\t1\t2\nBob\t1\t2\n", "Bob\t1\t2\nAnn\t1\t2\n");
  tiny_.replace("Dan\t1\t2\n", "Dan\t1\t4\n");
  const RunScores b = read(save("b", good_));
  const auto pairs = track_pairs(a, b);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_FALSE(pairs[0].same);
  EXPECT_EQ(pairs[0].common, 7);
  EXPECT_EQ(pairs[0].only_a, 1);
  EXPECT_EQ(pairs[0].only_b, 1);
  ASSERT_EQ(pairs[0].shared.size(), 7u);
  EXPECT_EQ(pairs[0].shared[0].first, 0);
  EXPECT_EQ(pairs[0].shared[0].second, 1);
  const auto differences =
      run_differences(read_run(tiny_.root() / "a"), read_run(tiny_.root() / "b"), a, b, pairs);
  ASSERT_FALSE(differences.empty());
  for (const Difference& d : differences) EXPECT_EQ(d.kind, "data") << d.what;
}

TEST_F(TwoRuns, TheSamePairInAnotherFoldIsAnotherComparison) {
  const RunScores a = read(save("a", good_));
  tiny_.replace("Bob\t1\t2", "X");
  tiny_.replace("Dan\t1\t2", "Bob\t1\t2");
  tiny_.replace("X", "Dan\t1\t2");
  const auto pairs = track_pairs(a, read(save("b", good_)));
  EXPECT_FALSE(pairs[0].same);
  EXPECT_EQ(pairs[0].common, 6);
}

TEST_F(TwoRuns, NumbersUnderBothConventions) {
  EvaluationOptions facenet;
  facenet.convention = "facenet";
  const fs::path a = save("a", good_), b = save("b", bad_, facenet);
  BootstrapOptions few;
  few.replicates = 50;
  const Explanation e = explain(a, b, few);
  for (const ExplainedNumber& n : e.numbers) {
    if (n.key.metric != "auc") continue;
    EXPECT_EQ(n.a(), 1);
    // Of 16 genuine-impostor pairs by hand: .1 wins 0 and ties 1, .8 wins 2 and ties 1, .9 wins 3
    // and ties 1, .2 wins 1 and ties 1: 6 + 4 / 2 = 8.
    EXPECT_EQ(n.b(), 0.5);
    EXPECT_EQ(n.by_scores(), 0.5);
    EXPECT_EQ(n.by_convention(), 0);
  }
  EXPECT_EQ(explanation_json(e)["conventions"], (Json{"exact", "facenet"}));
  EXPECT_THROW(explain(a, tiny_.root()), Error);
}

TEST(DifferenceKinds, EveryOneIsDocumented) {
  for (const DifferenceKind& k : difference_kinds().entries())
    EXPECT_FALSE(k.doc.empty()) << k.name;
}

}  // namespace
}  // namespace facebench
