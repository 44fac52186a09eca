#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "facebench/core/random.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/evaluation/spec.h"
#include "facebench/io/mat5.h"
#include "facebench/io/text.h"
#include "facebench/trials/listed_trials.h"
#include "io/helpers.h"
#include "lists/list_texts.h"

namespace facebench {
namespace {

const ListedTrials& listed(const TrialSet& set, std::size_t track = 0) {
  return trials_of<ListedTrials>(set.tracks.at(track));
}

// The comparisons as texts: "a.jpg b.jpg 1 fold".
std::vector<std::string> shown(const TrialSet& set, std::size_t track = 0) {
  const ListedTrials& t = listed(set, track);
  std::vector<std::string> result;
  for (std::size_t k = 0; k < t.comparisons.size(); ++k)
    result.push_back(set.names[static_cast<std::size_t>(t.comparisons[k].first)] + " " +
                     set.names[static_cast<std::size_t>(t.comparisons[k].second)] + " " +
                     std::to_string(t.genuine[k]) +
                     (t.fold.empty() ? "" : " " + std::to_string(t.fold[k])));
  return result;
}

// --- pairs ---------------------------------------------------------------------------------------

const std::string kPairs = "first,second,label\na/1.jpg,a/2.jpg,1\na/2.jpg,b/1.jpg,0\n";

TEST(PairList, TheSmallestFormAsWorkedOutByHand) {
  const TemporaryFolder folder;
  write_file(folder / "pairs.csv", kPairs);
  const TrialSet set = read_trials(load_protocol("pairs"), {folder.path()});
  EXPECT_EQ(shown(set), (std::vector<std::string>{"a/1.jpg a/2.jpg 1", "a/2.jpg b/1.jpg 0"}));
  // People are what genuine pairs connect.
  EXPECT_EQ(set.identity, (std::vector<std::int32_t>{0, 0, 1}));
  EXPECT_EQ(set.lists.at(0).role, "pairs");
  EXPECT_TRUE(set.blemishes.empty());
}

TEST(PairList, ColumnsWordsFoldsAndAffixesAreData) {
  const TemporaryFolder folder;
  // Label first, tabs, folds by name, no header, names without folder and extension.
  write_file(folder / "mine.tsv",
             "same\tb\tAnn_1\tAnn_2\nother\ta\tAnn_1\tBob_1\n"
             "same\ta\tBob_1\tBob_2\nother\tb\tAnn_2\tBob_2\n");
  const ProtocolSpec spec =
      changed("pairs", {{"file = \"pairs.csv\"", "file = \"mine.tsv\""},
                        {"separator = \"comma\"", "separator = \"tab\""},
                        {"header = true", "header = false"},
                        {"first = \"first\"", "first = \"2\""},
                        {"second = \"second\"", "second = \"3\""},
                        {"label = \"label\"", "label = \"0\""},
                        {"genuine = [\"1\"]", "genuine = [\"same\"]"},
                        {"impostor = [\"0\"]", "impostor = [\"other\"]"},
                        {"folds = \"none\"", "folds = \"column\"\nfold = \"1\""},
                        {"prefix = \"\"", "prefix = \"faces/\""},
                        {"suffix = \"\"", "suffix = \".png\""},
                        {"identity = \"genuine\"", "identity = \"before_last_underscore\""}});
  const TrialSet set = read_trials(spec, {folder.path()});
  EXPECT_EQ(shown(set),
            (std::vector<std::string>{
                "faces/Ann_1.png faces/Ann_2.png 1 0", "faces/Ann_1.png faces/Bob_1.png 0 1",
                "faces/Bob_1.png faces/Bob_2.png 1 1", "faces/Ann_2.png faces/Bob_2.png 0 0"}));
  EXPECT_EQ(set.identity_names, (std::vector<std::string>{"Ann", "Bob"}));
}

TEST(PairList, ByteOrderMarkAndCrlfAreTakenAndCounted) {
  const TemporaryFolder folder;
  write_file(folder / "pairs.csv", with_crlf_and_bom(kPairs));
  const TrialSet set = read_trials(load_protocol("pairs"), {folder.path()});
  EXPECT_EQ(shown(set).size(), 2u);
  EXPECT_EQ(set.blemishes.size(), 2u);
}

TEST(PairList, MalformedListsAreErrorsWithFileAndLine) {
  for (const Damage& d : std::initializer_list<Damage>{
           {"first,second", "one,two", "unknown column 'first'"},
           {",1\n", ",2\n", "pairs.csv:2: the label '2' is neither genuine (1) nor impostor (0)"},
           {",1\n", ",1,1\n", "pairs.csv:2: 4 fields"},
           {"a/1.jpg,", ",", "pairs.csv:2: a name is empty"},
           {"a/1.jpg,", "../1.jpg,", "pairs.csv:2: '../1.jpg' is not a plain path"},
           {"a/1.jpg,", "/1.jpg,", "pairs.csv:2: '/1.jpg' is an absolute path"},
           {"a/1.jpg,", "a\\1.jpg,", "holds a backslash"},
           {"b/1.jpg,0", "a/1.jpg,0",
            "pairs.csv:3: a/2.jpg and a/1.jpg are listed as impostors, but by the genuine "
            "comparisons they are one person, and so are 1 of 2 pairs"},
           {"a/2.jpg,b/1.jpg,0\n", "", "0 impostor"},
           {"b/1.jpg,0\n", "b/1.jpg,0\nb/2.jpg,b/1.jpg,1\na/1.jpg,b/2.jpg,1\n",
            "pairs.csv:3: a/2.jpg and b/1.jpg are listed as impostors, but by the genuine "
            "comparisons they are one person"},
           {kPairs, "first,second,label\n", "pairs.csv: the list is empty"}}) {
    const TemporaryFolder folder;
    write_file(folder / "pairs.csv", with(kPairs, d.from, d.to));
    EXPECT_ERROR(evaluate_scores(read_trials(load_protocol("pairs"), {folder.path()}),
                                 std::vector<double>(1, 0.5)),
                 d.expected);
  }
}

TEST(PairList, WrongKeysAreErrorsWithTheirLine) {
  for (const Damage& d : std::initializer_list<Damage>{
           {"separator = \"comma\"", "separator = \"coma\"", "did you mean 'comma'"},
           {"folds = \"none\"", "folds = \"order\"", "fold_count"},
           {"folds = \"none\"", "folds = \"order\"\nfold_count = 1",
            "option 'fold_count': 1 is outside [2, "},
           {"impostor = [\"0\"]", "impostor = [\"1\"]", "'1' means genuine as well"},
           {"lines_per_pair = 1", "lines_per_pair = 3",
            "option 'lines_per_pair': 3 is outside [1, 2]"},
           {"identity = \"genuine\"", "identity = \"foldr\"", "did you mean 'folder'"}}) {
    EXPECT_ERROR(changed("pairs", {{d.from, d.to}}), d.expected);
    EXPECT_ERROR(changed("pairs", {{d.from, d.to}}), "changed.toml:");
  }
}

TEST(PairList, EveryIdentityRuleReadsItsForm) {
  struct Case {
    std::string rule, first, second, person;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"folder", "x/Ann/1.jpg", "x/Ann/2.jpg", "x/Ann"},
           {"parent_folder", "001/frontal/01.jpg", "001/profile/02.jpg", "001"},
           {"before_last_underscore", "d/Ann_Bee_0001.jpg", "Ann_Bee_2.jpg", "Ann_Bee"},
           {"second_part", "1_AnnBee_35_f.jpg", "x/12_AnnBee_60_f.jpg", "AnnBee"}}) {
    const TemporaryFolder folder;
    const ProtocolSpec spec =
        changed("pairs", {{"identity = \"genuine\"", "identity = \"" + c.rule + "\""}});
    write_file(folder / "pairs.csv", "first,second,label\n" + c.first + "," + c.second + ",1\n");
    EXPECT_EQ(read_trials(spec, {folder.path()}).identity_names,
              (std::vector<std::string>{c.person}));
    write_file(folder / "pairs.csv", "first,second,label\n" + c.first + "," + c.second + ",0\n");
    EXPECT_ERROR(read_trials(spec, {folder.path()}),
                 "pairs.csv:2: " + c.first + " and " + c.second +
                     " are listed as impostors, but by their names they are one person");
    write_file(folder / "pairs.csv", "first,second,label\n1,2,0\n");
    EXPECT_ERROR(read_trials(spec, {folder.path()}), "pairs.csv:2: the name '1' does not say who");
  }
}

TEST(PairList, ImagesAreFoundByStemWhereTheProtocolSaysSo) {
  const TemporaryFolder folder;
  write_file(folder / "pairs.csv", kPairs);
  const ProtocolSpec spec = changed("pairs", {{"match = \"exact\"", "match = \"stem\""}});
  const TrialSet set = read_trials(spec, {folder.path()});  // 1, 2 of a, and 1 of b
  write_file(folder / "images/deep/2.PNG", "");
  EXPECT_EQ(find_images(spec, set, {folder.path()}), folder.path());
  const auto paths = image_paths(spec, set, folder.path());
  EXPECT_EQ(paths.at(1), folder / "images/deep/2.PNG");
  EXPECT_EQ(paths.at(0), folder / "a/1.jpg");
  write_file(folder / "2.jpg", "");
  EXPECT_ERROR(image_paths(spec, set, folder.path()), "'2' is the stem of");
}

// --- CALFW and CPLFW -----------------------------------------------------------------------------

// 20 genuine pairs in ten folds, then 20 impostor pairs, as the authors order theirs; `word` is
// what stands behind the names of genuine pair k.
std::string two_lines_a_pair(const std::function<std::string(int)>& word) {
  std::string text;
  for (int k = 0; k < 20; ++k)
    for (const int image : {1, 2})
      text += "P_" + std::to_string(k) + "_000" + std::to_string(image) + ".jpg " + word(k) + "\n";
  for (int k = 0; k < 20; ++k)
    text += "P_" + std::to_string(k) + "_0001.jpg 0\nP_" + std::to_string((k + 7) % 20) +
            "_0003.jpg 0\n";
  return text;
}

TEST(Calfw, ReadsTheOfficialFormAsWorkedOutByHand) {
  const TemporaryFolder folder;
  const ProtocolSpec spec = load_protocol("calfw");
  // Genuine pairs alternate between folds, so that the word is seen to decide, not the order.
  write_file(folder / "pairs_CALFW.txt",
             two_lines_a_pair([](int k) { return std::to_string(k % 10 + 1); }));
  const TrialSet set = read_trials(spec, {folder.path()});
  const ListedTrials& t = listed(set);
  ASSERT_EQ(t.comparisons.size(), 40u);
  EXPECT_EQ(shown(set)[11], "P_11_0001.jpg P_11_0002.jpg 1 1");
  EXPECT_EQ(shown(set)[20], "P_0_0001.jpg P_7_0003.jpg 0 0");
  EXPECT_EQ(shown(set)[39], "P_19_0001.jpg P_6_0003.jpg 0 9");
  EXPECT_EQ(set.identity_names.size(), 20u);
  // Genuine pair k scores k, impostor pair k scores 19.5 - k: fold f holds the genuine scores f and
  // f + 10 and the impostor scores 19.5 - 2f and 18.5 - 2f. By symmetry AUC counts the (genuine,
  // impostor) pairs with g > 19.5 - k, that is g + k >= 20: sum over g of g = 190 of 400.
  std::vector<double> scores;
  for (int k = 0; k < 20; ++k) scores.push_back(k);
  for (int k = 0; k < 20; ++k) scores.push_back(19.5 - k);
  EvaluationOptions options;
  options.interval = "none";
  const auto result = evaluate_scores(under(spec, set), scores, {}, options);
  EXPECT_DOUBLE_EQ(result.tracks.at(0).number("auc").value, 190.0 / 400);
  EXPECT_EQ(std::get<Accuracy>(result.tracks.at(0).number("accuracy").counts).folds.size(), 10u);
  EXPECT_NE(result.notes.at(0).find("40 comparisons, the official one 6000"), std::string::npos);
}

TEST(Cplfw, FoldsAreCutInTheOrderOfTheList) {
  const TemporaryFolder folder;
  write_file(folder / "pairs_CPLFW.txt", two_lines_a_pair([](int) { return "1"; }));
  const TrialSet set = read_trials(load_protocol("cplfw"), {folder.path()});
  for (int k = 0; k < 40; ++k) EXPECT_EQ(listed(set).fold[static_cast<std::size_t>(k)], k % 20 / 2);
}

TEST(Calfw, MalformedListsAreErrorsWithFileAndLine) {
  const std::string good = two_lines_a_pair([](int k) { return std::to_string(k / 2 + 1); });
  const ProtocolSpec spec = load_protocol("calfw");
  const auto read = [&](const std::string& text) {
    const TemporaryFolder folder;
    write_file(folder / "pairs_CALFW.txt", text);
    return read_trials(spec, {folder.path()});
  };
  EXPECT_EQ(shown(read(good)), shown(read(with_crlf_and_bom(good))));
  EXPECT_EQ(read(with_crlf_and_bom(good)).blemishes.size(), 2u);
  for (const Damage& d : std::initializer_list<Damage>{
           {"P_0_0002.jpg 1\n", "P_0_0002.jpg 2\n", "pairs_CALFW.txt:2: the label is '2'"},
           {"P_0_0002.jpg 1\n", "P_0_0002.jpg\n", "pairs_CALFW.txt:2: 1 fields"},
           {"P_0_0001.jpg 1\nP_0_0002.jpg 1\n", "P_0_0001.jpg 11\nP_0_0002.jpg 11\n",
            "pairs_CALFW.txt:1: the label '11'"},
           {"P_0_0001.jpg 1\n", "", "pairs_CALFW.txt:79: the last pair has one line only"},
           {"P_0_0001.jpg 0\nP_7_0003.jpg 0\n", "",
            "19 impostor comparisons cannot be cut into 10"},
           {"P_0_0001.jpg 1", "P0.jpg 1", "pairs_CALFW.txt:1: the name 'P0.jpg' does not say who"}})
    EXPECT_ERROR(read(with(good, d.from, d.to)), d.expected);
  const TemporaryFolder empty;
  EXPECT_ERROR(read_trials(spec, {empty.path()}), "pairs_CALFW.txt");
  EXPECT_ERROR(evaluate_scores(under(spec, read(good)), std::vector<double>(40, std::nan(""))),
               "row 0");
}

// --- AgeDB ---------------------------------------------------------------------------------------

MatArray image(const std::string& name) { return mat_structure({"name"}, {mat_text(name)}); }

// One fold: two rows of images and a row of labels.
MatArray fold(const std::vector<std::array<std::string, 2>>& pairs, std::vector<double> labels) {
  std::vector<MatArray> cells;  // first index fastest: first and second image of each pair
  for (const auto& [a, b] : pairs) {
    cells.push_back(image(a));
    cells.push_back(image(b));
  }
  return mat_structure({"pairs", "labels"},
                       {mat_cells({2, static_cast<std::int64_t>(pairs.size())}, std::move(cells)),
                        mat_numbers(std::move(labels))});
}

std::vector<MatArray> agedb_folds() {
  return {fold({{"0_Ann_20_f", "1_Ann_50_f"}, {"0_Ann_20_f", "2_Bob_51_m"}}, {1, -1}),
          fold({{"4_Eve_20_f", "5_Fay_51_f"}, {"2_Bob_51_m", "3_Bob_81_m"}}, {-1, 1})};
}

TrialSet read_agedb(std::vector<MatArray> folds, const std::string& variable = "splits") {
  const TemporaryFolder folder;
  const auto count = static_cast<std::int64_t>(folds.size());
  write_file(folder / "AgeDB_30.mat",
             mat5_bytes({{variable, mat_cells({count, 1}, std::move(folds))}}));
  return read_trials(load_protocol("agedb30"), {folder.path()});
}

TEST(AgeDb, ReadsTheOfficialFormAsWorkedOutByHand) {
  const TrialSet set = read_agedb(agedb_folds());
  EXPECT_EQ(shown(set),
            (std::vector<std::string>{
                "0_Ann_20_f.jpg 1_Ann_50_f.jpg 1 0", "0_Ann_20_f.jpg 2_Bob_51_m.jpg 0 0",
                "4_Eve_20_f.jpg 5_Fay_51_f.jpg 0 1", "2_Bob_51_m.jpg 3_Bob_81_m.jpg 1 1"}));
  EXPECT_EQ(set.identity_names, (std::vector<std::string>{"Ann", "Bob", "Eve", "Fay"}));
  // Fold 0: 0.9 | 0.4, fold 1: 0.6 | 0.3. Trained on fold 1 the threshold is 0.45: both of fold 0
  // right. Trained on fold 0 it is 0.65: fold 1 has 0.6 wrong, 0.3 right.
  EvaluationOptions options;
  options.interval = "none";
  const auto result = evaluate_scores(under(load_protocol("agedb30"), set),
                                      std::vector<double>{0.9, 0.4, 0.3, 0.6}, {}, options);
  EXPECT_DOUBLE_EQ(result.tracks.at(0).number("accuracy").value, 0.75);
  EXPECT_DOUBLE_EQ(result.tracks.at(0).number("auc").value, 1.0);
}

TEST(AgeDb, MalformedFilesAreErrorsThatNameThePlace) {
  EXPECT_ERROR(read_agedb(agedb_folds(), "split"), "there is no variable 'splits'");
  const auto refused = [](std::size_t at, MatArray with, const std::string& expected) {
    std::vector<MatArray> folds = agedb_folds();
    folds[at] = std::move(with);
    EXPECT_ERROR(read_agedb(std::move(folds)), expected);
  };
  refused(1, fold({{"4_Eve_20_f", "5_Fay_51_f"}}, {-1, 1}), "splits{2}: 2 labels for 1 pairs");
  refused(1, fold({{"4_Eve_20_f", "5_Fay_51_f"}}, {2}), "splits{2}, pair 1: the label is 2");
  refused(1, fold({{"4_Eve_20_f", "5_Fay_51_f"}}, {std::nan("")}), "splits{2}, pair 1: the label");
  refused(0, fold({{"0_Ann_20_f", "1_Ann_50_f"}}, {-1}), "by their names they are one person");
  refused(0, fold({{"Ann", "1_Ann_50_f"}}, {1}), "splits{1}, pair 1: the name 'Ann.jpg'");
  refused(0, fold({{"../0_Ann_20_f", "1_Ann_50_f"}}, {1}), "is not a plain path");
  refused(0, fold({}, {}), "splits{1}: holds no pairs");
  refused(0, mat_numbers({1}), "splits{1}: holds 0 fields");
  const TemporaryFolder folder;
  write_file(folder / "AgeDB_30.mat", "no MAT file");
  EXPECT_ERROR(read_trials(load_protocol("agedb30"), {folder.path()}), "AgeDB_30.mat");
}

// --- CFP -----------------------------------------------------------------------------------------

// Ten folds of two genuine and two impostor pairs; fold f holds the people 2f and 2f + 1, each with
// two frontal images and two in profile.
void write_cfp(const TemporaryFolder& folder, const std::string& split) {
  std::string frontal, profile;
  for (int person = 0; person < 20; ++person)
    for (int image = 0; image < 2; ++image) {
      const std::string number = std::to_string(2 * person + image + 1);
      const std::string name = "Data/Images/0" + std::to_string(10 + person);
      const std::string file = "/0" + std::to_string(image + 1) + ".jpg\n";
      frontal += number + " " + name + "/frontal" + file;
      profile += number + " " + name + "/profile" + file;
    }
  write_file(folder / "Protocol/image_list_F.txt", frontal);
  write_file(folder / "Protocol/image_list_P.txt", profile);
  for (int f = 0; f < 10; ++f) {
    const std::string at =
        "Protocol/../Split/" + split + "/" + (f < 9 ? "0" : "") + std::to_string(f + 1) + "/";
    const auto image = [&](int k) { return std::to_string(4 * f + k); };
    write_file(folder / (at + "same.txt"),
               image(1) + "," + image(2) + "\n" + image(3) + "," + image(4) + "\n");
    write_file(folder / (at + "diff.txt"),
               image(1) + "," + image(3) + "\n" + image(2) + "," + image(4) + "\n");
  }
}

TEST(Cfp, BothExperimentsAsWorkedOutByHand) {
  const TemporaryFolder folder;
  write_cfp(folder, "FF");
  write_cfp(folder, "FP");
  const TrialSet ff = read_trials(load_protocol("cfp_ff"), {folder.path()});
  EXPECT_EQ(shown(ff).size(), 40u);
  EXPECT_EQ(shown(ff)[0], "Data/Images/010/frontal/01.jpg Data/Images/010/frontal/02.jpg 1 0");
  EXPECT_EQ(shown(ff)[39], "Data/Images/028/frontal/02.jpg Data/Images/029/frontal/02.jpg 0 9");
  EXPECT_EQ(ff.identity_names.size(), 20u);
  EXPECT_EQ(ff.lists.size(), 21u);  // one list of images, twenty of pairs
  const TrialSet fp = read_trials(load_protocol("cfp_fp"), {folder.path()});
  EXPECT_EQ(shown(fp)[2], "Data/Images/010/frontal/01.jpg Data/Images/011/profile/01.jpg 0 0");
  EXPECT_EQ(fp.lists.size(), 22u);
}

TEST(Cfp, MalformedListsAreErrorsWithFileAndLine) {
  struct Case {
    std::string file, text, expected;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"Split/FP/02/same.txt", "5,6\n7;8\n", "02/same.txt:2: two numbers with a comma"},
           {"Split/FP/02/same.txt", "5,6,7\n", "02/same.txt:1: two numbers with a comma"},
           {"Split/FP/02/same.txt", "5,41\n", "02/same.txt:1: there is no image 41"},
           {"Split/FP/02/same.txt", "0,5\n", "02/same.txt:1: there is no image 0"},
           {"Split/FP/02/same.txt", "5,8\n5,8\n5,8\n5,8\n5,8\n5,8\n",
            "02/same.txt:1: Data/Images/012/frontal/01.jpg and Data/Images/013/profile/02.jpg are "
            "listed as genuine, but by their names they are two people, and so are 6 of 44 pairs"},
           {"Split/FP/02/same.txt", "", "02/same.txt: the list is empty"},
           {"Split/FP/02/same.txt", "5,x\n", "02/same.txt:1: the second image"},
           {"Protocol/image_list_P.txt", "2 a/b/c.jpg\n", "there is no image "},
           {"Protocol/image_list_P.txt", "1\n", "image_list_P.txt:1: 1 fields"},
           {"Protocol/image_list_P.txt", "1 /a/b.jpg\n", "image_list_P.txt:1: '/a/b.jpg'"}}) {
    const TemporaryFolder folder;
    write_cfp(folder, "FP");
    write_file(folder / c.file, c.text);
    EXPECT_ERROR(read_trials(load_protocol("cfp_fp"), {folder.path()}), c.expected);
  }
  const TemporaryFolder folder;
  write_cfp(folder, "FP");
  std::filesystem::remove(folder / "Split/FP/10/diff.txt");
  EXPECT_ERROR(read_trials(load_protocol("cfp_fp"), {folder.path()}),
               "no folder holds the lists; missing: Split/FP/10/diff.txt");
  EXPECT_ERROR(read_trials(load_protocol("cfp_fp"), {folder / "nowhere"}),
               "nowhere: no such folder");
}

// --- UMDFaces ------------------------------------------------------------------------------------

const std::string kCsv = "umdfaces_batch3_ultraface.csv";
const std::string kCsvHead =
    "SUBJECT_ID,FILE,UNKNOWN,FACE_X,FACE_Y,FACE_WIDTH,FACE_HEIGHT,YAW,PITCH,ROLL\n";

std::string face(const std::string& person, int number, double yaw) {
  return csv_record({person, person + "/" + person + "_" + std::to_string(number) + ".jpg", "",
                     "10", "20", "30", "40", std::to_string(yaw), "0", "0"});
}

// Ann and Bob, each at -30, 0, 3 and 10 degrees. Of one person: 0|3 differs by less than 5; 0|10
// and 3|10 by 5 to 20; the three with -30 by 20 and more. Of two people: 2 + 4 x same angle = 6,
// 4, 6.
std::string eight_faces() {
  std::string text = kCsvHead;
  for (const std::string person : {"ann", "bob"})
    for (int k = 0; k < 4; ++k)
      text += face(person, k, std::array<double, 4>{-30, 0, 3, 10}[static_cast<std::size_t>(k)]);
  return text;
}

ProtocolSpec umdfaces_of(int size, int seed = 0) {
  return changed("umdfaces", {{"size = 5000", fmt::format("size = {}", size)},
                              {"seed = 0", fmt::format("seed = {}", seed)}});
}

TEST(UmdFaces, DrawnTracksAsWorkedOutByHand) {
  const TemporaryFolder folder;
  write_file(folder / kCsv, eight_faces());
  // With two of each kind the easy track's genuine pairs are both there are.
  const TrialSet set = read_trials(umdfaces_of(2), {folder.path()});
  ASSERT_EQ(set.tracks.size(), 3u);
  EXPECT_EQ(set.tracks[0].name, "easy");
  EXPECT_EQ(shown(set)[0], "ann/ann_1.jpg ann/ann_2.jpg 1");
  EXPECT_EQ(shown(set)[1], "bob/bob_1.jpg bob/bob_2.jpg 1");
  std::map<std::string, double> yaw;
  for (const std::string person : {"ann", "bob"})
    for (int k = 0; k < 4; ++k)
      yaw[person + "/" + person + "_" + std::to_string(k) + ".jpg"] =
          std::array<double, 4>{-30, 0, 3, 10}[static_cast<std::size_t>(k)];
  const double bounds[3][2] = {{0, 5}, {5, 20}, {20, 180}};
  for (std::size_t t = 0; t < 3; ++t)
    for (const Comparison& c : listed(set, t).comparisons) {
      const double difference = std::abs(yaw.at(set.names[static_cast<std::size_t>(c.first)]) -
                                         yaw.at(set.names[static_cast<std::size_t>(c.second)]));
      EXPECT_GE(difference, bounds[t][0]);
      EXPECT_LT(difference, bounds[t][1]);
    }
  EXPECT_EQ(set.lists.at(0).notes.at(0), "gave the pairs by drawing, 2 + 2 for each track, seed 0");
  // With five of each kind every track has what there is: 2, 4 and 6 genuine pairs.
  const TrialSet all = read_trials(umdfaces_of(5), {folder.path()});
  EXPECT_EQ(all.lists.at(0).notes.at(0),
            "gave the pairs by drawing, 5 + 5 for each track, seed 0; track easy has 2 + 2 only; "
            "track moderate has 4 + 4 only");
  EXPECT_EQ(shown(all, 0).size(), 4u);
  EXPECT_EQ(shown(all, 1).size(), 8u);
  EXPECT_EQ(shown(all, 2).size(), 10u);
}

TEST(UmdFaces, EveryPairIsEquallyLikelyAndTheSeedDecides) {
  const TemporaryFolder folder;
  write_file(folder / kCsv, eight_faces());
  std::map<std::string, int> seen;
  for (int seed = 0; seed < 1200; ++seed)
    for (const std::string& pair : shown(read_trials(umdfaces_of(1, seed), {folder.path()}), 2))
      ++seen[pair];
  // Difficult: 6 genuine pairs, and 6 impostor pairs: -30 of either with 0, 3, 10 of the other.
  ASSERT_EQ(seen.size(), 12u);
  // 1200 draws of six: 200 expected, sd 12.9.
  for (const auto& [pair, count] : seen) EXPECT_NEAR(count, 200, 60) << pair;
  EXPECT_EQ(shown(read_trials(umdfaces_of(2, 5), {folder.path()}), 1),
            shown(read_trials(umdfaces_of(2, 5), {folder.path()}), 1));
}

TEST(UmdFaces, ManyFacesGiveDifferentPairsOfTheRightKind) {
  const TemporaryFolder folder;
  std::string text = kCsvHead;
  Random random(3, "yaw");
  for (int person = 0; person < 40; ++person)
    for (int k = 0; k < 12; ++k)
      text += face(fmt::format("p{}", person), k, random.uniform(-60, 60));
  write_file(folder / kCsv, text);
  const TrialSet set = read_trials(umdfaces_of(150), {folder.path()});
  for (std::size_t t = 0; t < 3; ++t) {
    const std::vector<std::string> pairs = shown(set, t);
    EXPECT_EQ(pairs.size(), 300u);
    EXPECT_EQ(std::set<std::string>(pairs.begin(), pairs.end()).size(), 300u);
    EXPECT_EQ(std::ranges::count(listed(set, t).genuine, 1), 150);
  }
}

TEST(UmdFaces, PairsOutOfAList) {
  const TemporaryFolder folder;
  const std::string list =
      "first,second,label,track\nann/ann_0.jpg,ann/ann_1.jpg,1,hard\n"
      "ann/ann_0.jpg,bob/bob_1.jpg,0,hard\nann/ann_0.jpg,bob/bob_1.jpg,0,easy\n";
  const auto read = [&](const std::string& text) {
    write_file(folder / kCsv, eight_faces());
    write_file(folder / "umdfaces_pairs.csv", text);
    return read_trials(load_protocol("umdfaces_listed"), {folder.path()});
  };
  const TrialSet set = read(list);
  EXPECT_EQ(set.tracks.at(0).name, "hard");
  EXPECT_EQ(shown(set, 0).size(), 2u);
  EXPECT_EQ(shown(set, 1), (std::vector<std::string>{"ann/ann_0.jpg bob/bob_1.jpg 0"}));
  EXPECT_EQ(set.identity_names, (std::vector<std::string>{"ann", "bob"}));
  EXPECT_EQ(set.lists.at(0).notes.at(0),
            "describes the faces; the pairs are those listed in umdfaces_pairs.csv");
  for (const Damage& d : std::initializer_list<Damage>{
           {"1,hard", "0,hard",
            "umdfaces_pairs.csv:2: ann/ann_0.jpg and ann/ann_1.jpg are listed as impostors, but by "
            "the "
            "data set they are one person"},
           {"1,hard", "yes,hard", "umdfaces_pairs.csv:2: the label is 'yes'"},
           {"ann_1.jpg", "ann_9.jpg", "umdfaces_pairs.csv:2: 'ann/ann_9.jpg' is in none"},
           {",label", ",lable", "did you mean 'lable'"}})
    EXPECT_ERROR(read(with(list, d.from, d.to)), d.expected);
}

TEST(UmdFaces, MalformedFilesAreErrorsWithFileAndLine) {
  const auto read = [](const std::string& text) {
    const TemporaryFolder folder;
    write_file(folder / kCsv, text);
    return read_trials(umdfaces_of(1), {folder.path()});
  };
  EXPECT_EQ(shown(read(eight_faces())), shown(read(with_crlf_and_bom(eight_faces()))));
  for (const Damage& d : std::initializer_list<Damage>{
           {"YAW", "YWA", "unknown column 'YAW'; did you mean 'YWA'"},
           {"PITCH", "YAW", "two columns are called 'YAW'"},
           {"-30", "nan", kCsv + ":2: YAW must be a number"},
           {"-30", "-300", kCsv + ":2: YAW is -300"},
           {"-30", "-30,1", kCsv + ":2: 11 fields"},
           {"ann,ann/", ",ann/", kCsv + ":2: SUBJECT_ID is empty"},
           {"ann/ann_0", "../ann_0", kCsv + ":2: '../ann_0.jpg' is not a plain path"},
           {eight_faces(), kCsvHead, kCsv + ":2: the file names no faces"},
           {eight_faces(), kCsvHead + face("ann", 0, 0),
            "track easy: the faces give 0 genuine and 0 impostor pairs"}})
    EXPECT_ERROR(read(with(eight_faces(), d.from, d.to)), d.expected);
  EXPECT_ERROR(changed("umdfaces", {{"pairs_from = \"drawn\"", "pairs_from = \"drwan\""}}),
               "did you mean 'drawn'");
  EXPECT_ERROR(changed("umdfaces", {{"yaw_below = 5\n", "yaw_below = 0\n"}}), "not above yaw_from");
}

}  // namespace
}  // namespace facebench
