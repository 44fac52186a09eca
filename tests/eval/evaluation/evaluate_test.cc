#include "facebench/evaluation/evaluate.h"

#include <gtest/gtest.h>

#include <limits>

#include "evaluation/message_of.h"
#include "facebench/core/error.h"
#include "facebench/evaluation/spec.h"
#include "facebench/io/file.h"
#include "facebench/trials/listed_trials.h"
#include "facebench/trials/scoring.h"
#include "lists/tiny_lfw.h"

namespace facebench {
namespace {

TEST(Evaluate, TheTinySetAsWorkedOutByHand) {
  // Scores of fold 0: 0.9 0.4 | 0.3 0.1; of fold 1: 0.8 0.2 | 0.6 0.0. Trained on fold 1 the best
  // threshold lies between 0.8 and 0.6, i.e. 0.7 (one error, 3 of 4; the gap 0.6 to 0.2 gives 2,
  // 0.2 to 0.0 gives 3 of 4 and is as wide: of equal gaps the higher): fold 0 has 0.9 right, 0.4
  // wrong, both impostors right. Trained on fold 0 it lies between 0.4 and 0.3: 0.35; fold 1 has
  // 0.8 right, 0.2 wrong, 0.6 wrong, 0.0 right.
  const TinyLfw tiny;
  const TrialSet t = read_trials(tiny.spec(), {tiny.root()});
  EvaluationOptions o;
  o.interval = "none";
  const Result r = evaluate_scores(t, std::vector<double>{.9, .4, .3, .1, .8, .2, .6, 0}, {}, o);
  const TrackResult& track = r.track("view2");
  EXPECT_EQ(track.comparisons, 8);
  EXPECT_EQ(track.genuine, 4);
  EXPECT_EQ(track.identities, 6);
  const Number& accuracy = track.number("accuracy");
  EXPECT_DOUBLE_EQ(accuracy.value, (0.75 + 0.5) / 2);
  EXPECT_EQ(std::get<Accuracy>(accuracy.counts).wrong, 3);
  EXPECT_DOUBLE_EQ(std::get<Accuracy>(accuracy.counts).fold_threshold[0], 0.7);
  // 16 pairs of a genuine and an impostor score: 0.9 and 0.8 beat 4, 0.4 beats 3, 0.2 beats 2.
  EXPECT_DOUBLE_EQ(track.number("auc").value, 13.0 / 16);
  const Number& tar = track.number("tar@far=0.1");
  EXPECT_DOUBLE_EQ(tar.value, 0.5);  // no impostor of 4 may be accepted: above 0.6
  EXPECT_EQ(std::get<TarAtFar>(tar.counts).false_accepts, 0);
  EXPECT_FALSE(std::get<TarAtFar>(tar.counts).reliable);
  EXPECT_FALSE(r.notes.empty());  // not the official list
  EXPECT_FALSE(accuracy.interval.has_value());
  EXPECT_HAS(message_of<std::invalid_argument>([&] { track.number("acuracy"); }),
             "did you mean 'accuracy'");
}

TEST(Evaluate, FailedEnrolmentsAreCountedAndScoreLowest) {
  const TinyLfw tiny;
  const TrialSet t = read_trials(tiny.spec(), {tiny.root()});
  EmbeddingSet e = tiny.embeddings(t);
  e.status[0] = SampleStatus::no_face;  // Ann 1: in one genuine and one impostor comparison
  std::fill(e.values.begin(), e.values.begin() + e.dim, 0.0f);
  e.names.pop_back();  // the last one has no row at all
  e.status.pop_back();
  e.values.resize(e.values.size() - static_cast<std::size_t>(e.dim));
  EvaluationOptions o;
  o.replicates = 50;
  const std::string refused = message_of<Error>([&] { evaluate(t, e, o); });
  EXPECT_HAS(refused, "1 of the");
  EXPECT_HAS(refused, "missing from the");
  EXPECT_HAS(refused, "allow_missing");
  o.allow_missing = true;
  const Result r = evaluate(t, e, o);
  const TrackResult& track = r.tracks[0];
  ASSERT_EQ(track.failed.size(), 2u);
  EXPECT_EQ(track.failed[0].name, "Ann/Ann_0001.jpg");
  EXPECT_EQ(track.failed[0].status, SampleStatus::no_face);
  EXPECT_EQ(track.failed[1].status, SampleStatus::missing);
  EXPECT_EQ(r.scores[0].at(0), -1);
  EXPECT_EQ(track.comparisons, 8);
  EXPECT_GT(track.failed_comparisons, 1);

  o.failed_enrolments = "drop";
  const TrackResult dropped = evaluate(t, e, o).tracks[0];
  EXPECT_EQ(dropped.dropped, track.failed_comparisons);
  EXPECT_EQ(dropped.comparisons + dropped.dropped, 8);
  EXPECT_EQ(dropped.failed.size(), 2u);

  o.strict = true;
  EXPECT_HAS(message_of<Error>([&] { evaluate(t, e, o); }), "Ann/Ann_0001.jpg");
}

TEST(Evaluate, FailedScoresAreBelowForeignScoresToo) {
  const TinyLfw tiny;
  const TrialSet t = read_trials(tiny.spec(), {tiny.root()});
  std::vector<SampleStatus> status(t.names.size(), SampleStatus::ok);
  status[0] = SampleStatus::unreadable;
  EvaluationOptions o;
  o.interval = "none";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto r =
      evaluate_scores(t, std::vector<double>{nan, 40, 10, -30, 80, 20, 60, 0}, status, o);
  EXPECT_EQ(r.scores[0].at(0), -30);
}

TEST(Evaluate, BadNumbersAreErrorsThatNameThem) {
  const TinyLfw tiny;
  const TrialSet t = read_trials(tiny.spec(), {tiny.root()});
  EmbeddingSet e = tiny.embeddings(t);
  e.values[static_cast<std::size_t>(e.dim)] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_HAS(message_of<Error>([&] { evaluate(t, e); }), t.names[1]);
  e = tiny.embeddings(t);
  std::fill(e.values.begin(), e.values.begin() + e.dim, 0.0f);
  EXPECT_HAS(message_of<Error>([&] { evaluate(t, e); }), "no direction");
  std::vector<double> scores(8, 0.5);
  scores[3] = std::numeric_limits<double>::infinity();
  EXPECT_HAS(message_of<Error>([&] { evaluate_scores(t, scores); }), "row 3");
  scores.pop_back();
  EXPECT_HAS(message_of<Error>([&] { evaluate_scores(t, scores); }), "7 scores");
}

TEST(Evaluate, TheSameForAnyNumberOfThreads) {
  const TinyLfw tiny;
  const TrialSet t = read_trials(tiny.spec(), {tiny.root()});
  Job one, two;
  one.threads = 1;
  two.threads = 2;
  const auto a = evaluate(t, tiny.embeddings(t), {}, one);
  const auto b = evaluate(t, tiny.embeddings(t), {}, two);
  EXPECT_EQ(a.scores, b.scores);
  EXPECT_EQ(metrics_json(a), metrics_json(b));
}

TEST(Evaluate, ScoresFromACsvFile) {
  const TinyLfw tiny;
  const TrialSet t = read_trials(tiny.spec(), {tiny.root()});
  const fs::path path = tiny.root() / "scores.csv";
  std::string text = "first,second,score\n";
  for (const Comparison& c : trials_of<ListedTrials>(t.tracks[0]).comparisons)
    text += t.names[static_cast<std::size_t>(c.first)] + "," +
            t.names[static_cast<std::size_t>(c.second)] + ",0.5\n";
  write_file(path, text);
  EXPECT_EQ(read_scores_csv(path, t), std::vector<double>(8, 0.5));
  write_file(path, text + "a,b,1\n");
  EXPECT_HAS(message_of<Error>([&] { read_scores_csv(path, t); }), "scores.csv:10");
  write_file(path, "score\n0.5\nnan\n");
  EXPECT_HAS(message_of<Error>([&] { read_scores_csv(path, t); }), "scores.csv:3");
  write_file(path, "score\n0.5\n");
  EXPECT_HAS(message_of<Error>([&] { read_scores_csv(path, t); }), "scores.csv");
}

}  // namespace
}  // namespace facebench
