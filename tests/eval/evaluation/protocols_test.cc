#include <gtest/gtest.h>

#include <cstdlib>

#include "evaluation/message_of.h"
#include "facebench/core/error.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/evaluation/spec.h"
#include "facebench/io/file.h"
#include "facebench/trials/listed_trials.h"
#include "facebench/trials/scoring.h"
#include "lists/tiny_lfw.h"

namespace facebench {
namespace {

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
