#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "facebench/core/error.h"
#include "facebench/evaluation/embedded.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/evaluation/spec.h"
#include "facebench/io/file.h"
#include "facebench/trials/listed_trials.h"
#include "facebench/trials/scoring.h"
#include "lists/tiny_lfw.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// The text of the exception that `body` throws, "" where it throws none.
template <class Exception, class Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const Exception& e) {
    return e.what();
  }
  return "";
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Spec, EveryEmbeddedProtocolLoads) {
  const auto names = protocol_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "lfw"), names.end());
  for (const std::string& name : names) {
    const ProtocolSpec s = load_protocol(name);
    EXPECT_EQ(s.id, name);
    EXPECT_GE(s.version, 1);
    EXPECT_FALSE(s.citations.empty());
    EXPECT_EQ(s.sha256.size(), 64u);
    EXPECT_FALSE(s.metrics.empty());
  }
}

TEST(Spec, UnknownNameIsAnsweredWithDidYouMean) {
  const std::string text = message_of<std::invalid_argument>([] { load_protocol("lfv"); });
  EXPECT_HAS(text, "did you mean 'lfw'");
}

std::string lfw_with(const std::string& from, const std::string& to) {
  std::string text = load_protocol("lfw").text;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Spec, SlipsAreRefusedWithFileLineAndSuggestion) {
  struct Case {
    std::string from, to, expected;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"match = \"exact\"", "match = \"exct\"", "did you mean 'exact'"},
           {"name = \"lfw_pairs\"", "name = \"lfw_pair\"", "did you mean 'lfw_pairs'"},
           {"convention = \"exact\"", "convention = \"exakt\"", "did you mean 'exact'"},
           {"interval = \"dyadic\"", "interval = \"dyad\"", "did you mean 'dyadic'"},
           {"name = \"eer\"", "name = \"eet\"", "did you mean 'eer'"},
           {"name = \"eer\"", "name = \"auc\"", "twice"},
           {"targets = [0.1,", "targets = [1.5,", "(0, 1)"},
           {"title =", "titel =", "title"},
           {"genuine = 3000", "genuin = 3000", "did you mean 'genuine'"},
           {"images = [\".\", ", "images = [\"../../x\", ", "below the root"},
           {"ask = [", "asks = [", "did you mean 'ask'"},
           {"version = 1", "version = \"one\"", "version"}}) {
    const std::string text =
        message_of<Error>([&] { parse_protocol(lfw_with(c.from, c.to), "mine.toml"); });
    EXPECT_HAS(text, c.expected);
    EXPECT_HAS(text, "mine.toml:");
  }
}

TEST(LfwPairs, ReadsATinyListAsWorkedOutByHand) {
  const TinyLfw tiny;
  const TrialSet t = read_trials(tiny.spec(), {tiny.root()});
  ASSERT_EQ(t.tracks.size(), 1u);
  EXPECT_EQ(t.tracks[0].name, "view2");
  const auto& track = trials_of<ListedTrials>(t.tracks[0]);
  EXPECT_EQ(track.comparisons.size(), 8u);
  EXPECT_EQ(track.genuine, (std::vector<std::uint8_t>{1, 1, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(track.fold, (std::vector<std::int32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(track.fold_count(), 2);
  EXPECT_EQ(t.names.front(), "Ann/Ann_0001.jpg");
  EXPECT_EQ(t.names.size(), 12u);
  EXPECT_EQ(t.identity_names, (std::vector<std::string>{"Ann", "Bob", "Cat", "Dan", "Eve", "Fay"}));
  EXPECT_EQ(t.lists.at(0).sha256.size(), 64u);
  EXPECT_TRUE(t.blemishes.empty());
}

TEST(LfwPairs, MalformedListsAreErrorsWithFileAndLine) {
  struct Case {
    std::string from, to, expected;
  };
  for (const Case& c :
       std::initializer_list<Case>{{"2\t2\n", "2\t3\n", "announces 2 x (3 + 3)"},
                                   {"2\t2\n", "0\t2\n", "pairs.txt:1"},
                                   {"2\t2\n", "2\t2\t2\n", "pairs.txt:1"},
                                   {"2\t2\n", "2 2\n", "separated by tabs"},
                                   {"2\t2\n", "999999\t999999\n", "announces"},
                                   {"2\t2\n", "two\t2\n", "pairs.txt:1"},
                                   {"Ann\t1\t2\n", "Ann\t1\t2\t3\n", "pairs.txt:2"},
                                   {"Ann\t1\t2\n", "Ann 1 2\n", "between tabs"},
                                   {"Ann\t1\t2\n", "Ann\t0\t2\n", "from 1 to"},
                                   {"Ann\t1\t2\n", "Ann\t1x\t2\n", "pairs.txt:2"},
                                   {"Ann\t1\t2\n", "Ann\t1\t99999999999999999999\n", "pairs.txt:2"},
                                   {"Ann\t1\t2\n", "\t1\t2\n", "name is empty"},
                                   {"Ann\t1\t2\n", "../Ann\t1\t2\n", "not a person's name"},
                                   {"Ann\t1\tBob\t1\n", "Ann\t1\tAnn\t2\n",
                                    "1 of 8 pairs are listed as impostors, but are one person"},
                                   {"Ann\t1\tBob\t1\n", "Ann\t1\tBob\n", "pairs.txt:4"},
                                   {"Ann\t1\tBob\t1\n", "", "ends after"}}) {
    const TinyLfw tiny;
    tiny.replace(c.from, c.to);
    const std::string text = message_of<Error>([&] { read_trials(tiny.spec(), {tiny.root()}); });
    EXPECT_HAS(text, c.expected);
    EXPECT_HAS(text, "pairs.txt:");
  }
}

TEST(LfwPairs, ByteOrderMarkAndCrlfAreTakenAndCounted) {
  const TinyLfw tiny;
  std::string text = tiny.text();
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.insert(at, "\r");
  tiny.write("\xEF\xBB\xBF" + text);
  const TrialSet t = read_trials(tiny.spec(), {tiny.root()});
  ASSERT_EQ(t.blemishes.size(), 2u);
  EXPECT_EQ(t.blemishes[0].kind, BlemishKind::byte_order_mark);
  EXPECT_EQ(t.blemishes[1].kind, BlemishKind::crlf);
  EXPECT_EQ(trials_of<ListedTrials>(t.tracks.at(0)).comparisons.size(), 8u);
}

TEST(LfwPairs, AListWithoutFolds) {
  const TinyLfw tiny;
  tiny.write("1\nAnn\t1\t2\nAnn\t1\tBob\t1\n");
  const TrialSet t = read_trials(tiny.spec(), {tiny.root()});
  EXPECT_TRUE(trials_of<ListedTrials>(t.tracks.at(0)).fold.empty());
  const std::string text = message_of<Error>([&] { evaluate(t, tiny.embeddings(t)); });
  EXPECT_HAS(text, "no folds");
}

TEST(Places, MissingListsNameEveryPlace) {
  const TinyLfw tiny;
  fs::remove(tiny.root() / "protocol/pairs.txt");
  const std::string text = message_of<Error>([&] { read_trials(tiny.spec(), {tiny.root()}); });
  EXPECT_HAS(text, "pairs.txt");
  EXPECT_HAS(text, "looked in " + tiny.root().string() + " and there in protocol");
  EXPECT_THROW(read_trials(tiny.spec(), {}), std::invalid_argument);
}

TEST(Places, ListsThatNameNothingOnDiskAreAnError) {
  const TinyLfw tiny;
  const TrialSet t = read_trials(tiny.spec(), {tiny.root()});
  EXPECT_HAS(message_of<Error>([&] { find_images(tiny.spec(), t, {tiny.root()}); }),
             "none of the 12 images");
  write_file(tiny.root() / "images" / t.names.back(), "not decoded here");
  EXPECT_EQ(find_images(tiny.spec(), t, {tiny.root()}), tiny.root() / "images");
}

TEST(Places, ImagesAreFoundTwoLevelsDownWhereOneFolderHasThem) {
  const TinyLfw tiny;
  const TrialSet t = read_trials(tiny.spec(), {tiny.root()});
  const auto find = [&] { return find_images(tiny.spec(), t, {tiny.root()}); };
  write_file(tiny.root() / "a/b/c" / t.names.front(), "too deep");
  EXPECT_HAS(message_of<Error>(find), "none of the 12 images");
  write_file(tiny.root() / "release/images_deepfunneled" / t.names.front(), "not decoded here");
  EXPECT_EQ(find(), tiny.root() / "release/images_deepfunneled");
  // A second one makes it a question, and the protocol's own folder answers it.
  write_file(tiny.root() / "copy" / t.names.front(), "not decoded here");
  const std::string text = message_of<Error>(find);
  EXPECT_HAS(text, (tiny.root() / "copy").string());
  EXPECT_HAS(text, "images_deepfunneled");
  EXPECT_HAS(text, "Give the folder");
  write_file(tiny.root() / "images" / t.names.front(), "not decoded here");
  EXPECT_EQ(find(), tiny.root() / "images");
}

TEST(Names, StemsAndAmbiguity) {
  const std::vector<std::string> wanted = {"img/7.JPG", "frame/8_1.png"};
  EXPECT_EQ(match_names(wanted, std::vector<std::string>{"x/8_1.jpg", "img/7.png"}, "stem"),
            (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(match_names(wanted, std::vector<std::string>{"img/7.JPG", "7.JPG"}, "exact"),
            (std::vector<std::int64_t>{0, -1}));
  EXPECT_HAS(message_of<Error>([&] {
               match_names(wanted, std::vector<std::string>{"a/7.png", "b/7.png"}, "stem");
             }),
             "ambiguous");
  EXPECT_HAS(
      message_of<Error>([&] { match_names(wanted, std::vector<std::string>{"nothing"}, "exact"); }),
      "none of the 2 names");
  EXPECT_THROW(match_names(wanted, wanted, "fuzzy"), std::invalid_argument);
  // Forms of Unicode, and the separator of Windows.
  const std::vector<std::string> composed = {"Jos\u00e9/0.jpg"}, other = {"Jose\u0301\\0.jpg"};
  EXPECT_EQ(match_names(composed, other, "exact"), std::vector<std::int64_t>{0});
  EXPECT_EQ(match_names(composed, std::vector<std::string>{"Jose\u0301/0.png"}, "path_stem"),
            std::vector<std::int64_t>{0});
}

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

TEST(RealLfw, TheOfficialListsHoldWhatTheProtocolSays) {
  const char* data = std::getenv("FACEBENCH_DATA");
  if (!data) GTEST_SKIP() << "FACEBENCH_DATA is not set";
  const fs::path root = fs::path(data) / "lfw";
  for (const std::string name : {"lfw", "lfw_view1"}) {
    const ProtocolSpec spec = load_protocol(name);
    const TrialSet t = read_trials(spec, {root});
    EXPECT_TRUE(differences_from_official(spec, t).empty());
    EXPECT_EQ(find_images(spec, t, {root}), root / "images");
    if (name == "lfw") {
      EXPECT_EQ(t.names.size(), 7701u);
      EXPECT_EQ(t.identity_names.size(), 4281u);
      const auto counts = track_counts(t.tracks[0], t);
      EXPECT_EQ(counts[0], (std::pair<std::string, std::int64_t>("comparisons", 6000)));
      EXPECT_EQ(counts[1], (std::pair<std::string, std::int64_t>("genuine", 3000)));
    }
  }
}

}  // namespace
}  // namespace facebench
