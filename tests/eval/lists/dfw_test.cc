#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "facebench/evaluation/evaluate.h"
#include "facebench/trials/dense_trials.h"
#include "io/helpers.h"
#include "lists/list_texts.h"

namespace facebench {
namespace {

constexpr const char* kNames = "Testing_data_face_name.txt";
constexpr const char* kMask = "updated_testing_mask.txt";

// Ann in four images, the fourth in disguise; Bob passes for Ann; Cat once.
const std::string kNamesText =
    "Ann/Ann.jpg\nAnn/Ann_a.jpg\nAnn/Ann_b.jpg\nAnn/Ann_h_1.jpg\nAnn/Ann_I_1.jpg\nCat/Cat.jpg\n";
// 1 genuine and 3 impostor in impersonation, 2 and 4 in obfuscation, 5 nobody's.
const std::string kMaskText =
    "1 1 5 2 3 4\n"
    "1 1 5 2 3 4\n"
    "5 5 1 2 3 4\n"
    "2 2 2 1 5 4\n"
    "3 3 3 5 1 4\n"
    "4 4 4 4 4 1\n";

TrialSet read(const std::string& names, const std::string& mask) {
  const TemporaryFolder folder;
  write_file(folder / kNames, names);
  write_file(folder / kMask, mask);
  return read_trials(load_protocol("dfw"), {folder.path()});
}

// Embeddings whose cosines are known: on the unit circle, at these degrees.
EmbeddingSet at_degrees(const std::vector<std::string>& names, const std::vector<double>& degrees) {
  EmbeddingSet e;
  e.dim = 2;
  e.names = names;
  e.status.assign(names.size(), SampleStatus::ok);
  for (const double d : degrees) {
    e.values.push_back(static_cast<float>(std::cos(d * std::acos(-1.0) / 180)));
    e.values.push_back(static_cast<float>(std::sin(d * std::acos(-1.0) / 180)));
  }
  return e;
}

TEST(Dfw, TracksAsWorkedOutByHand) {
  const TrialSet set = read(kNamesText, kMaskText);
  ASSERT_EQ(set.tracks.size(), 3u);
  EXPECT_EQ(set.tracks[0].name, "impersonation");
  const auto counts = [&](std::size_t t) {
    const auto& mask = trials_of<DenseTrials>(set.tracks[t]).mask;
    return std::pair(std::ranges::count(mask, DenseTrials::is_genuine),
                     std::ranges::count(mask, DenseTrials::is_impostor));
  };
  // Above the diagonal: one 1, three 2, three 3, five 4.
  EXPECT_EQ(counts(0), (std::pair<std::ptrdiff_t, std::ptrdiff_t>(1, 3)));
  EXPECT_EQ(counts(1), (std::pair<std::ptrdiff_t, std::ptrdiff_t>(3, 5)));
  EXPECT_EQ(counts(2), (std::pair<std::ptrdiff_t, std::ptrdiff_t>(4, 8)));
  // The impersonator, whose folder is Ann's, is nobody of them.
  EXPECT_EQ(set.identity, (std::vector<std::int32_t>{0, 0, 0, 0, 1, 2}));
  EXPECT_TRUE(set.blemishes.empty());

  EvaluationOptions options;
  options.interval = "none";
  // Ann at 0, 10, 20, her disguise at 40, Bob at 25, Cat at 90. Impersonation: genuine 10 degrees;
  // impostor 25, 15, 5: the genuine beats two of three.
  const auto result = evaluate(under(load_protocol("dfw"), set),
                               at_degrees(set.names, {0, 10, 20, 40, 25, 90}), options);
  EXPECT_DOUBLE_EQ(result.track("impersonation").number("auc").value, 2.0 / 3);
  EXPECT_DOUBLE_EQ(result.track("impersonation").number("tar@far=0.01").value, 0);
  // Obfuscation: genuine 40, 30, 20; impostor 90, 80, 70, 50, 65: all right.
  EXPECT_DOUBLE_EQ(result.track("obfuscation").number("tar@far=0.001").value, 1);
  // Overall: genuine 10 beats 25, 15 and five; 20 and 30 beat six (25 and five: 20; five: 30);
  // 40 beats five: 7 + 6 + 5 + 5 of 4 x 8.
  EXPECT_DOUBLE_EQ(result.track("overall").number("auc").value, 23.0 / 32);
}

TEST(Dfw, ByteOrderMarksBlanksAndDecimalsAreTaken) {
  const std::string names = with(with(kNamesText, "Ann/Ann_a",
                                      "  \xEF\xBB\xBF"
                                      "Ann/Ann_a"),
                                 "Cat/Cat.jpg", "\tCat/Cat.jpg ");
  const TrialSet set =
      read(with_crlf_and_bom(names),
           with_crlf_and_bom(with(kMaskText, "1 1 5 2 3 4", " 1.000e+00\t1  5 2 3 4.0 ")));
  EXPECT_EQ(set.names, read(kNamesText, kMaskText).names);
  // Two files begin with a mark and have CRLF; a name has a mark; two lines end or begin in blanks.
  ASSERT_EQ(set.blemishes.size(), 3u);
  EXPECT_EQ(set.blemishes[0].count, 3);
  EXPECT_EQ(set.blemishes[1].count, 2);
  EXPECT_EQ(set.blemishes[2].kind, BlemishKind::blanks);
}

TEST(Dfw, EntriesBelowTheDiagonalAreNotReadButCompared) {
  const TrialSet set = read(kNamesText, with(kMaskText, "4 4 4 4 4 1", "1 1 4 4 4 1"));
  ASSERT_EQ(set.blemishes.size(), 1u);
  EXPECT_EQ(set.blemishes[0].kind, BlemishKind::mask_asymmetry);
  EXPECT_EQ(set.blemishes[0].count, 2);
  EXPECT_EQ(set.blemishes[0].first[0].line, 6);
  EXPECT_EQ(set.identity_names.size(), 3u);
}

TEST(Dfw, MalformedNamesAreErrorsWithFileAndLine) {
  for (const Damage& d : std::initializer_list<Damage>{
           {"Ann/Ann_a.jpg", "", "mask.txt:1: more than 5 numbers"},
           {"Ann/Ann_a.jpg", "../Ann_a.jpg", "face_name.txt:2: '../Ann_a.jpg' is not a plain"},
           {"Cat/Cat.jpg\n", "", "mask.txt:1: more than 5 numbers"},
           {"Cat/Cat.jpg\n", "Cat/Cat.jpg\nDan/Dan.jpg\n", "7"},
           {kNamesText, "Ann/Ann.jpg\n", "face_name.txt: fewer than two names"}})
    EXPECT_ERROR(read(with(kNamesText, d.from, d.to), kMaskText), d.expected);
}

TEST(Dfw, MalformedMasksAreErrorsWithFileAndLine) {
  for (const Damage& d : std::initializer_list<Damage>{
           {"5 5 1 2 3 4", "5 5 1 2 3", "mask.txt:3: 5 numbers where 6 are expected"},
           {"5 5 1 2 3 4", "5 5 1 2 3 4 4", "mask.txt:3: more than 6 numbers"},
           {"5 5 1 2 3 4", "5 5 1 2 x 4", "mask.txt:3: 'x' is not a whole number"},
           {"5 5 1 2 3 4", "5 5 1 2 nan 4", "mask.txt:3: 'nan' is not a whole number"},
           {"5 5 1 2 3 4", "5 5 1 2 1.5 4", "mask.txt:3: '1.5' is not"},
           {"5 5 1 2 3 4", "5 5 1 2 -1 4", "mask.txt:3: '-1' is not"},
           {"5 5 1 2 3 4", "5 5 1 2 256 4", "mask.txt:3: '256' is not"},
           {"4 4 4 4 4 1\n", "4 4 4 4 4 1\n4 4 4 4 4 1\n", "mask.txt:7: a row more than the 6"},
           {"4 4 4 4 4 1\n", "\n\n\n\n\n\n\n", "mask.txt: 5 rows for 6 names"},
           {"1 1 5 2 3 4", "1 1 3 2 3 4",
            "mask.txt:1: entry 3 calls Ann/Ann.jpg and Ann/Ann_b.jpg impostors, but genuine"},
           {kMaskText, "1 2\n", "bytes cannot hold 6 x 6 numbers"}})
    EXPECT_ERROR(read(kNamesText, with(kMaskText, d.from, d.to)), d.expected);
  std::string two_values = kMaskText;  // the mask that knows genuine and impostor only
  for (char& c : two_values) c = c == '3' || c == '4' ? '2' : c == '2' ? '1' : c;
  EXPECT_ERROR(read(kNamesText, two_values), "track impersonation has ");
}

TEST(Dfw, WrongKeysAreErrorsWithTheirLine) {
  for (const Damage& d : std::initializer_list<Damage>{
           {"genuine = [1]", "genuine = [300]", "option 'genuine': 300 is outside [0, 255]"},
           {"genuine = [1]", "genuine = []", "no mask value is named"},
           {"genuine = [1]", "genuine = [3]", "3 is named twice"}})
    EXPECT_ERROR(changed("dfw", {{d.from, d.to}}), d.expected);
}

}  // namespace
}  // namespace facebench
