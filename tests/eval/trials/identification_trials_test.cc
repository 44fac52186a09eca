#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>

#include "evaluation/expect_same.h"
#include "facebench/analysis/trial_pairs.h"
#include "facebench/core/error.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/io/file.h"
#include "facebench/runs/run_folder.h"
#include "facebench/runs/verify.h"
#include "facebench/trials/identification_trials.h"
#include "io/helpers.h"
#include "trials/random_people.h"

// Searches whose scores are too many to keep, against the same searches with all scores kept.
namespace facebench {
namespace {

constexpr int kSearchPeople = 40, kSearchImages = 5, kSearchDim = 16;

struct SearchSet {
  TrialSet trials;
  ProtocolSpec spec;
  EmbeddingSet embeddings;

  // Thirty people are enrolled, every other one with two images; the rest are probes. Of every 37
  // images the first `failed` cannot be enrolled, and `nobody` of all.
  explicit SearchSet(int failed = 0, bool nobody = false) {
    RandomPeople{kSearchPeople, kSearchImages, kSearchDim, 1, 5, 1.1}.fill(trials, embeddings);
    IdentificationTrials search;
    for (std::int32_t i = 0; i < kSearchPeople * kSearchImages; ++i) {
      const std::int32_t person = i / kSearchImages, image = i % kSearchImages;
      const bool enrolled = person < 30 && (image == 0 || (image == 1 && person % 2 == 0));
      (enrolled ? search.gallery : search.probes).push_back(i);
      if (i % 37 < failed || nobody) fail_sample(embeddings, i);
    }
    // Two people of the same looks: ties.
    for (std::int32_t k = 0; k < kSearchDim; ++k)
      embeddings.values[static_cast<std::size_t>(5 * kSearchImages * kSearchDim + k)] =
          embeddings.values[static_cast<std::size_t>(7 * kSearchImages * kSearchDim + k)];
    trials.tracks = {{"search", search}};
    trials.check();
    spec = protocol_by_hand(R"(
[[metrics]]
name = "rank"
targets = [1, 5]
[[metrics]]
name = "dir_at_fpir"
targets = [0.01, 0.1]
)");
  }
};

EvaluationOptions stored(const std::string& policy = "lowest_score") {
  EvaluationOptions o;
  o.replicates = 50;
  o.failed_enrolments = policy;
  return o;
}
EvaluationOptions outcomes(const std::string& policy = "lowest_score") {
  EvaluationOptions o = stored(policy);
  o.stored_scores = 1000;
  return o;
}

void expect_same_numbers(const TrackResult& a, const TrackResult& b) {
  EXPECT_EQ(a.kind, b.kind);
  expect_same_counts(a, b);
  ASSERT_EQ(a.numbers.size(), b.numbers.size());
  for (std::size_t n = 0; n < a.numbers.size(); ++n) expect_same_number(a.numbers[n], b.numbers[n]);
}

class EachSearchPolicy : public testing::TestWithParam<std::tuple<int, std::string>> {};
INSTANTIATE_TEST_SUITE_P(Failures, EachSearchPolicy,
                         testing::Combine(testing::Values(0, 6),
                                          testing::Values("lowest_score", "drop")));

TEST_P(EachSearchPolicy, OutcomesGiveTheNumbersOfAllScores) {
  const auto [failed, policy] = GetParam();
  const SearchSet set(failed);
  const Result a = evaluate(under(set.spec, set.trials), set.embeddings, stored(policy));
  const Result b = evaluate(under(set.spec, set.trials), set.embeddings, outcomes(policy));
  ASSERT_TRUE(b.scores[0].outcomes);
  EXPECT_EQ(b.scores[0].enrolled_outcomes != nullptr, failed > 0);
  EXPECT_FALSE(b.scores[0].all());
  EXPECT_EQ(b.scores[0].count(), 0);
  ASSERT_FALSE(a.tracks[0].numbers.empty());
  expect_same_numbers(a.tracks[0], b.tracks[0]);
}

TEST_P(EachSearchPolicy, ARunOfOutcomesIsVerifiedAndDrawn) {
  const auto [failed, policy] = GetParam();
  const SearchSet set(failed);
  const TemporaryFolder folder;
  write_embeddings(folder / "e.h5", set.embeddings);
  std::vector<TrackCurves> curves;
  for (const bool all : {true, false}) {
    Result r = evaluate(under(set.spec, set.trials), set.embeddings,
                        all ? stored(policy) : outcomes(policy));
    const std::filesystem::path run = folder / (all ? "all" : "few");
    write_run_files(run, r, {});
    std::filesystem::copy_file(folder / "e.h5", run / "embeddings.h5");
    for (const Check& check : verify_scores(run))
      EXPECT_TRUE(check.same || !check.checked) << check.detail;
    const RunScores back = read_scores(run / "scores.h5");
    EXPECT_EQ(back.scores, r.scores);
    curves.push_back(r.curves.at(0));
  }
  EXPECT_EQ(curves[0].cmc, curves[1].cmc);
  ASSERT_EQ(curves[0].dir.size(), curves[1].dir.size());
  ASSERT_FALSE(curves[0].dir.empty());
  for (std::size_t i = 0; i < curves[0].dir.size(); ++i) {
    EXPECT_EQ(curves[0].dir[i].fpir, curves[1].dir[i].fpir);
    EXPECT_EQ(curves[0].dir[i].dir, curves[1].dir[i].dir);
  }
}

TEST(SearchOutcomes, TheSameSearchesAreFoundAgain) {
  const SearchSet set;
  const TemporaryFolder folder;
  SearchSet other;
  other.embeddings.values[3] += 0.5f;
  write_run_files(folder / "a", evaluate(under(set.spec, set.trials), set.embeddings, outcomes()),
                  {});
  write_run_files(folder / "b", evaluate(under(set.spec, set.trials), other.embeddings, outcomes()),
                  {});
  const RunScores a = read_scores(folder / "a" / "scores.h5");
  const RunScores b = read_scores(folder / "b" / "scores.h5");
  const TrackPairs same = track_pairs(a, a).at(0), changed = track_pairs(a, b).at(0);
  EXPECT_TRUE(same.same && same.same_scores);
  EXPECT_TRUE(changed.same);
  EXPECT_FALSE(changed.same_scores);
  EXPECT_EQ(same.common, 45 * 155);
}

TEST(SearchOutcomes, DamagedOutcomesAreRefused) {
  const SearchSet set;
  const TemporaryFolder folder;
  Result r = evaluate(under(set.spec, set.trials), set.embeddings, outcomes());
  const auto refused = [&](auto&& change, std::string_view words) {
    Result changed = r;
    SearchRecord record = *r.scores[0].outcomes;
    change(record);
    changed.scores[0] = Scores::of_searches(std::move(record), std::nullopt);
    write_run_files(folder / "run", changed, {});
    EXPECT_ERROR(read_scores(folder / "run" / "scores.h5"), words);
    std::filesystem::remove_all(folder / "run");
  };
  refused([](SearchRecord& s) { s.gallery = 0; }, "nobody in the gallery");
  refused([](SearchRecord& s) { s.ahead[0] = 1000; }, "a rank beyond the gallery");
  refused([](SearchRecord& s) { s.score[2] = NAN; }, "a score that is not a number");
  refused([](SearchRecord& s) { s.tied.pop_back(); }, "columns of different lengths");
  refused([](SearchRecord& s) { std::swap(s.impostors.front(), s.impostors.back()); },
          "out of order");
  refused([](SearchRecord& s) { s.impostors.front().probe = 1 << 20; }, "of no probe");
}

TEST(SearchOutcomes, NoSearchLeftIsAnError) {
  const SearchSet set(0, true);
  EXPECT_ERROR(evaluate(under(set.spec, set.trials), set.embeddings, outcomes("drop")),
               "no search is left");
}

}  // namespace
}  // namespace facebench
