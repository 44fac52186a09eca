// Releases of lists of pairs; see release.h.

#include "facebench/evaluation/evaluate.h"
#include "facebench/io/mat5.h"
#include "facebench/trials/listed_trials.h"
#include "lists/release.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

double accuracy(const Release& release, const TrialSet& set, const std::vector<double>& scores) {
  EvaluationOptions options;
  options.interval = "none";
  return evaluate_scores(under(release.spec(), set), scores, {}, options)
      .tracks.at(0)
      .number("accuracy")
      .value;
}

// --- LFW -----------------------------------------------------------------------------------------
// davidsandberg/facenet: src/lfw.py (splits at any white space, NAME/NAME_%04d)
// scikit-learn/scikit-learn: sklearn/datasets/_lfw.py (tabs; lfw_funneled/ beside the lists)
// JDAI-CV/FaceX-Zoo: test_protocol/lfw/pairs_parser.py (tabs)

const std::string kLfwPairs = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tJosé_Dé\t1\n";

void add_lfw_images(Release& release, const std::string& folder, const std::string& jose) {
  for (const std::string image :
       {"Ann/Ann_0001", "Ann/Ann_0002", "Bob/Bob_0001", "Cat/Cat_0001", "Cat/Cat_0002"})
    release.image(folder + image + ".jpg");
  release.image(folder + jose + "/" + jose + "_0001.jpg");
}

TEST(Release, LfwIsFoundInEachFolderThatArchivesMake) {
  for (const std::string folder : {"", "images/", "lfw/", "lfw_funneled/", "lfw-funneled/",
                                   "lfw-deepfunneled/", "lfw-deepfunneled/lfw-deepfunneled/"}) {
    Release release("lfw");
    release.file("pairs.txt", kLfwPairs);
    add_lfw_images(release, folder, "José_Dé");
    EXPECT_EQ(release.check().missing, 0) << folder;
    // The folder of the images given as the root: the list lies beside it, or above.
    if (std::count(folder.begin(), folder.end(), '/') == 1) {
      EXPECT_EQ(release.check(folder).missing, 0) << folder;
    }
  }
}

TEST(Release, LfwWithABomCrlfBlanksAndLatin1Names) {
  Release release("lfw");
  const std::string latin = "Jos\xE9_D\xE9";
  std::string text = with_crlf_and_bom(with(kLfwPairs, "José_Dé", latin));
  text = with(text, "Ann\t1\t2\r\n", "Ann\t1\t2 \r\n") + "\r\n";
  release.file("view2/pairs.txt", text);
  add_lfw_images(release, "lfw/", latin);
  const TrialSet set = release.read();
  EXPECT_EQ(kinds(set.blemishes), (Texts{"byte_order_mark 1", "crlf 1", "blanks 2", "latin_1 1"}));
  EXPECT_EQ(places(set.blemishes, BlemishKind::latin_1),
            (Texts{"pairs.txt:5 read as 'Cat\t1\tJosé_Dé\t1'"}));
  EXPECT_EQ(places(set.blemishes, BlemishKind::blanks),
            (Texts{"pairs.txt:2 at the end of the line", "pairs.txt:6 the line is blank"}));
  EXPECT_EQ(set.names.back(), "José_Dé/José_Dé_0001.jpg");
  EXPECT_EQ(release.check().missing, 0);
  EXPECT_EQ(image_paths(release.spec(), set, release.path() / "lfw").back(),
            release.path() / "lfw" / latin / (latin + "_0001.jpg"));
}

TEST(Release, LfwWithRepeatedPairsSelfPairsAndASamePersonImpostor) {
  Release release("lfw");
  std::string text = "2\t6\n";
  for (const std::string person : {"Ann", "Bob"}) {
    for (int k = 1; k <= 4; ++k) text += fmt::format("{}\t{}\t{}\n", person, k, k + 1);
    text += fmt::format("{0}\t2\t1\n{0}\t3\t3\n", person);
    for (int k = 1; k <= 6; ++k) text += fmt::format("{}\t{}\tCat\t{}\n", person, k, k);
  }
  text = with(text, "Ann\t6\tCat\t6\n", "Ann\t6\tAnn\t5\n");
  release.file("pairs.txt", text);
  const TrialSet set = release.read();
  EXPECT_EQ(kinds(set.blemishes),
            (Texts{"repeated_pair 2", "self_comparison 2", "label_conflict 1"}));
  EXPECT_EQ(places(set.blemishes, BlemishKind::repeated_pair),
            (Texts{"pairs.txt:6 Ann/Ann_0002.jpg and Ann/Ann_0001.jpg, as in line 2",
                   "pairs.txt:18 Bob/Bob_0002.jpg and Bob/Bob_0001.jpg, as in line 14"}));
  EXPECT_EQ(trials_of<ListedTrials>(set.tracks[0]).comparisons.size(), 24u);
  // Every row counts, and the label does: with the genuine ones at 1 but for one of the repeated
  // rows, 23 of 24 are right.
  std::vector<double> scores;
  for (int k = 0; k < 24; ++k) scores.push_back(k % 12 < 6 ? 1 : 0);
  scores[4] = 0;
  EXPECT_DOUBLE_EQ(accuracy(release, set, scores), 23.0 / 24);
  EvaluationOptions strict;
  strict.strict = true;
  EXPECT_ERROR(evaluate_scores(under(release.spec(), set), scores, {}, strict),
               "protocol lfw: the lists have 5 blemishes. Pairs that are in the list already, in "
               "this order or the other: 2; every row counts. First: pairs.txt:6: Ann");
}

// --- CFP -----------------------------------------------------------------------------------------
// zhangjunh/DR-GAN-by-pytorch: cfp-dataset/Readme.txt, cfp-dataset/Protocol (the release itself)
// deepinsight/insightface: src/data/cfp2pack.py (pairs with their fold, 1 = genuine)
// The authors' Readme: 350 + 350 rows a fold, ten folds; of the FF rows 130 are repeated.

void add_cfp(Release& release, const std::string& root, const std::string& lists,
             const std::string& kind) {
  std::string frontal, profile;
  for (int person = 1; person <= 20; ++person)
    for (int image = 1; image <= 10; ++image) {
      frontal += fmt::format("{} ../Data/Images/{:03d}/frontal/{:02d}.jpg\n",
                             10 * (person - 1) + image, person, image);
      release.image(fmt::format("{}Data/Images/{:03d}/frontal/{:02d}.jpg", root, person, image));
      if (image > 4) continue;
      profile += fmt::format("{} ../Data/Images/{:03d}/profile/{:02d}.jpg\n",
                             4 * (person - 1) + image, person, image);
      release.image(fmt::format("{}Data/Images/{:03d}/profile/{:02d}.jpg", root, person, image));
    }
  release.file(root + "Protocol/" + lists + "F.txt", frontal);
  release.file(root + "Protocol/" + lists + "P.txt", profile);
  for (int fold = 0; fold < 10; ++fold) {
    const std::string at = fmt::format("{}Protocol/Split/{}/{:02d}/", root, kind, fold + 1);
    const int a = 20 * fold, b = kind == "FF" ? a : 8 * fold, next = kind == "FF" ? 10 : 4;
    release.file(at + "same.txt", fmt::format("{},{}\n{},{}", a + 1, b + 2, a + 3, b + 4));
    release.file(at + "diff.txt",
                 fmt::format("{},{}\n{},{}", a + 1, b + next + 1, a + 2, b + next + 2));
  }
}

TEST(Release, CfpFromEveryRootUnderBothNames) {
  for (const std::string kind : {"FF", "FP"})
    for (const std::string lists : {"Pair_list_", "image_list_"}) {
      Release release(kind == "FF" ? "cfp_ff" : "cfp_fp");
      add_cfp(release, "cfp-dataset/", lists, kind);
      for (const std::string root :
           {".", "cfp-dataset", "cfp-dataset/Protocol", "cfp-dataset/Data"}) {
        const DataCheck check = release.check(root);
        EXPECT_EQ(check.missing, 0) << root;
        EXPECT_EQ(check.listed, kind == "FF" ? 60 : 70) << root;
        EXPECT_TRUE(check.blemishes.empty()) << root;
      }
      EXPECT_EQ(release.read().names.at(0), "Data/Images/001/frontal/01.jpg");
      EXPECT_EQ(release.read().names.at(1),
                kind == "FF" ? "Data/Images/001/frontal/02.jpg" : "Data/Images/001/profile/02.jpg");
    }
}

TEST(Release, CfpWithRepeatedPairsIsEvaluatedAsGiven) {
  Release release("cfp_ff");
  add_cfp(release, "", "Pair_list_", "FF");
  release.file("Protocol/Split/FF/03/same.txt", "41,42\r\n42,41\r\n\r\n");
  release.file("Protocol/Split/FF/04/diff.txt", "61, 71 \n61,71\n");
  const TrialSet set = release.read();
  EXPECT_EQ(kinds(set.blemishes), (Texts{"repeated_pair 2", "crlf 1", "blanks 2"}));
  EXPECT_EQ(places(set.blemishes, BlemishKind::repeated_pair),
            (Texts{"Protocol/Split/FF/03/same.txt:2 Data/Images/005/frontal/02.jpg and "
                   "Data/Images/005/frontal/01.jpg, as in Protocol/Split/FF/03/same.txt:1",
                   "Protocol/Split/FF/04/diff.txt:2 Data/Images/007/frontal/01.jpg and "
                   "Data/Images/008/frontal/01.jpg, as in Protocol/Split/FF/04/diff.txt:1"}));
  std::vector<double> scores;
  for (int fold = 0; fold < 10; ++fold)
    for (const double s : {1.0, 1.0, 0.0, 0.0}) scores.push_back(s);
  scores[8] = 0;  // one of the two rows of the same pair
  EXPECT_DOUBLE_EQ(accuracy(release, set, scores), 39.0 / 40);
}

TEST(Release, CfpMissingFilesAreNamedThreeAtMost) {
  Release release("cfp_fp");
  release.file("readme.txt", "");
  const std::string message = error_of([&] { static_cast<void>(release.read()); });
  EXPECT_NE(message.find("missing: Pair_list_F.txt, Pair_list_P.txt, Split/FP/01/same.txt and 19 "
                         "more; looked in "),
            std::string::npos)
      << message;
  EXPECT_NE(message.find(" and there in cfp-dataset, protocol, .."), std::string::npos) << message;
  add_cfp(release, "", "Pair_list_", "FP");
  fs::remove(release.path() / "Protocol/Split/FP/10/diff.txt");
  EXPECT_ERROR(release.read(), "missing: Split/FP/10/diff.txt; looked in");
}

TEST(Release, CfpImagesAreKnownByTheirNumbers) {
  Release release("cfp_ff");
  add_cfp(release, "", "Pair_list_", "FF");
  const std::string list = read_file(release.path() / "Protocol/Pair_list_F.txt");
  const TrialSet before = release.read();
  // The second line last.
  const std::string second = "2 ../Data/Images/001/frontal/02.jpg\n";
  release.file("Protocol/Pair_list_F.txt", with(list, second, "") + second);
  const TrialSet after = release.read();
  EXPECT_EQ(after.names, before.names);
  EXPECT_EQ(kinds(after.blemishes), (Texts{"numbering 2"}));
  release.file("Protocol/Pair_list_F.txt", list + "2 ../Data/Images/009/frontal/09.jpg\n");
  EXPECT_ERROR(release.read(), "Pair_list_F.txt:201: image number 2 is Data/Images/009/frontal/09");
  release.file("Protocol/Pair_list_F.txt", with(list, second, ""));
  EXPECT_ERROR(release.read(), "01/same.txt:1: there is no image 2; the image list has 199");
}

// --- CALFW and CPLFW -----------------------------------------------------------------------------
// JDAI-CV/FaceX-Zoo: test_protocol/lfw/pairs_parser.py (two lines a pair, folds by order)
// rezahatami1992/face-verification-api: evaluation/check_first_100.py (CALFW:
// calfw/pairs_CALFW.txt,
//   calfw/aligned images)
// mobilesec/reduced-embeddings-analysis-icprs: src/cplfw.rs, data/pairs_CPLFW.txt (CPLFW, CRLF)

std::string pairs_of_twenty(bool calfw) {
  std::string text;
  for (int k = 0; k < 20; ++k)
    for (const int image : {1, 2})
      text += fmt::format("Ann_{}_{}.jpg {}\r\n", k, image, calfw ? k / 2 + 1 : 1);
  for (int k = 0; k < 20; ++k)
    text += fmt::format("Ann_{}_1.jpg 0\r\nAnn_{}_3.jpg 0\r\n", k, (k + 7) % 20);
  return text;
}

TEST(Release, CalfwAndCplfwAsTheirArchivesUnpack) {
  for (const bool calfw : {true, false}) {
    const std::string name = calfw ? "calfw" : "cplfw";
    const std::string list = calfw ? "pairs_CALFW.txt" : "pairs_CPLFW.txt";
    for (const std::string images :
         {"aligned images/", "images/", "images&landmarks/images&landmarks/images/"}) {
      Release release(name);
      release.file(name + "/" + list, pairs_of_twenty(calfw));
      for (int k = 0; k < 20; ++k)
        for (const int image : {1, 2, 3})
          release.image(fmt::format("{}/{}Ann_{}_{}.jpg", name, images, k, image));
      if (images == "images/" || images == "aligned images/") {
        EXPECT_EQ(release.check().missing, 0) << name << images;
      }
      const DataCheck check = release.check(name);
      EXPECT_EQ(check.missing, 0) << name << images;
      EXPECT_EQ(kinds(check.blemishes), (Texts{"crlf 1"}));
      EXPECT_EQ(check.images.filename(), fs::path(images).parent_path().filename());
    }
  }
}

TEST(Release, CplfwWithAConflictOfNameAndLabelIsEvaluatedByTheLabel) {
  Release release("cplfw");
  release.file("pairs_CPLFW.txt", with(pairs_of_twenty(false), "Ann_7_3.jpg 0", "Ann_0_3.jpg 0"));
  const TrialSet set = release.read();
  EXPECT_EQ(kinds(set.blemishes), (Texts{"label_conflict 1", "crlf 1"}));
  EXPECT_EQ(trials_of<ListedTrials>(set.tracks[0]).genuine[20], 0);
  EXPECT_EQ(places(set.blemishes, BlemishKind::label_conflict),
            (Texts{"pairs_CPLFW.txt:41 Ann_0_1.jpg and Ann_0_3.jpg are listed as impostors, but by "
                   "their names they are one person"}));
}

// --- AgeDB ---------------------------------------------------------------------------------------
// deepinsight/insightface: src/data/agedb2pack.py (04_FINAL_protocol_30_years.mat,
//   03_Protocol_Images/; names of five parts or more, the person first; the age beside the name)
// JDAI-CV/FaceX-Zoo: test_protocol/lfw/pairs_parser.py (labels 1 and -1, fields by their order)

std::string agedb_mat(const std::vector<std::array<std::string, 2>>& pairs,
                      const std::vector<double>& labels) {
  std::vector<MatArray> folds;
  for (int fold = 0; fold < 2; ++fold) {
    std::vector<MatArray> images;
    for (const auto& pair : pairs)
      for (const std::string& name : pair)
        images.push_back(mat_cells(
            {1, 1}, {mat_structure({"name", "age"}, {mat_text(name), mat_numbers({35})})}));
    folds.push_back(
        mat_structure({"pairs", "labels"},
                      {mat_cells({2, static_cast<std::int64_t>(pairs.size())}, std::move(images)),
                       mat_numbers(labels)}));
  }
  return mat5_bytes({{"splits", mat_cells({2, 1}, std::move(folds))}});
}

TEST(Release, AgeDbWithTheProtocolsOwnNamesOfFiles) {
  Release release("agedb30");
  const std::vector<std::array<std::string, 2>> pairs = {
      {"AlainDelon_m_12_1955_20", "AlainDelon_m_13_1985_50"},
      {"AlainDelon_m_12_1955_20", "BetteDavis_f_2_1940_32"}};
  release.file("04_FINAL_protocol_30_years.mat", agedb_mat(pairs, {1, -1}));
  for (const std::string name :
       {"AlainDelon_m_12_1955_20", "AlainDelon_m_13_1985_50", "BetteDavis_f_2_1940_32"})
    for (const std::string ending : {".jpg", ".pts"})
      release.image("03_Protocol_Images/" + name + ending);
  const TrialSet set = release.read();
  EXPECT_EQ(set.identity_names, (Texts{"AlainDelon", "BetteDavis"}));
  EXPECT_EQ(release.check().missing, 0);
  // The second fold repeats the first.
  EXPECT_EQ(kinds(set.blemishes), (Texts{"repeated_pair 2"}));
  EXPECT_EQ(places(set.blemishes, BlemishKind::repeated_pair).at(0),
            "04_FINAL_protocol_30_years.mat:0 splits{2}, pair 1: AlainDelon_m_12_1955_20.jpg and "
            "AlainDelon_m_13_1985_50.jpg, as in 04_FINAL_protocol_30_years.mat: splits{1}, pair 1");
  EXPECT_DOUBLE_EQ(accuracy(release, set, {1, 0, 1, 0}), 1);
}

TEST(Release, AgeDbWithTheDataSetsNamesOfFiles) {
  Release release("agedb30");
  release.file("AgeDB_30.mat", agedb_mat({{"0_MariaCallas_35_f", "1_MariaCallas_65_f"},
                                          {"0_MariaCallas_35_f", "10000_GlennClose_62_f"}},
                                         {1, -1}));
  for (const std::string name :
       {"0_MariaCallas_35_f", "1_MariaCallas_65_f", "10000_GlennClose_62_f"})
    release.image("AgeDB/" + name + ".jpg");
  EXPECT_EQ(release.read().identity_names, (Texts{"MariaCallas", "GlennClose"}));
  EXPECT_EQ(release.check().missing, 0);
}

// --- what is told --------------------------------------------------------------------------------

TEST(Release, TheCheckSaysWhatIsThereAndWhatDiffers) {
  Release release("lfw");
  release.file("pairs.txt", kLfwPairs);
  release.image("lfw/Ann/Ann_0001.jpg");
  const DataCheck check = release.check();
  EXPECT_FALSE(check.complete());
  EXPECT_EQ(check.listed, 6);
  EXPECT_EQ(check.missing, 5);
  EXPECT_EQ(check.first_missing.front(), "Ann/Ann_0002.jpg");
  EXPECT_EQ(check.images.filename(), "lfw");
  const auto& counts = check.tracks.at(0).counts;
  EXPECT_EQ(counts.at(0).name, "comparisons");
  EXPECT_EQ(counts.at(0).found, 4);
  EXPECT_EQ(counts.at(0).official, 6000);
  EXPECT_EQ(
      check.differences.at(0),
      "Not the official list: track view2 has 4 comparisons, the official one 6000; 2 genuine "
      "comparisons, not 3000; 2 impostor comparisons, not 3000; 2 folds, not 10; 6 images, not "
      "7701; 4 people, not 4281.");
  const Json json = data_check_json(check);
  EXPECT_EQ(json["tracks"]["view2"]["identities"]["official"], 4281);
  EXPECT_EQ(json["missing"], 5);
  // No image at all is an answer, too.
  fs::remove_all(release.path() / "lfw");
  EXPECT_EQ(release.check().missing, 6);
  EXPECT_TRUE(data_check_json(release.check())["images"].is_null());
}

TEST(Release, ALongListOfBlemishesIsCountedAndTheFirstAreKept) {
  Release release("pairs");
  std::string text = "first,second,label\n";
  for (int k = 0; k < 2000; ++k) text += "a/1.jpg,a/2.jpg,1\nb/1.jpg,a/1.jpg,0\n";
  release.file("pairs.csv", text);
  const TrialSet set = release.read();
  ASSERT_EQ(set.blemishes.size(), 1u);
  EXPECT_EQ(set.blemishes[0].count, 3998);
  EXPECT_EQ(set.blemishes[0].first.size(), Blemishes::kFirst);
  const Json json = blemishes_json(set.blemishes);
  EXPECT_EQ(json[0]["kind"], "repeated_pair");
  EXPECT_EQ(json[0]["first"][0], Json({{"file", "pairs.csv"},
                                       {"line", 4},
                                       {"what", "a/1.jpg and a/2.jpg, as in pairs.csv:2"}}));
}

}  // namespace
}  // namespace facebench
