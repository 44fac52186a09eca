#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "facebench/core/error.h"
#include "facebench/core/random.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/evaluation/spec.h"
#include "facebench/io/file.h"
#include "io/helpers.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

// A folder for as long as the object lives.
class ListFolder {
 public:
  const fs::path& root() const { return root_.path(); }
  void write(const std::string& name, const std::string& text) const {
    write_file(root_ / name, text);
  }
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read_file(root_ / name);
    ASSERT_NE(text.find(from), std::string::npos) << from;
    write(name, text.replace(text.find(from), from.size(), to));
  }

 private:
  TemporaryFolder root_;
};

std::string refusal(const std::string& protocol, const ListFolder& place) {
  try {
    read_trials(load_protocol(protocol), {place.root()});
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

using Counts = std::map<std::string, std::int64_t>;
Counts counts(const TrialSet& set, const std::string& track) {
  for (const Track& t : set.tracks)
    if (t.name == track) {
      const auto all = track_counts(t, set);
      return {all.begin(), all.end()};
    }
  return {};
}

const std::string kMetadata = "IJB-A_11_sets/split1/verify_metadata_1.csv";
const std::string kComparisons = "IJB-A_11_sets/split1/verify_comparisons_1.csv";
const std::string kHead = "TEMPLATE_ID,SUBJECT_ID,FILE,MEDIA_ID,AGE\n";

// Three people: 7 with the templates 1 (a photograph and two frames of one video) and 2, 8 with 3,
// 9 with 4.
void write_verification(const ListFolder& place) {
  place.write(kMetadata, kHead +
                             "1,7,img/1.jpg,11,\n1,7,frame/5_1.png,5,\n1,7,frame/5_2.png,5,3\n"
                             "2,7,img/2.jpg,12,\n3,8,img/3.jpg,13,\n4,9,img/4.jpg,14,\n");
  place.write(kComparisons, "1,2\r\n1,3\r\n4,2\r\n");
}

TEST(Ijba11, ReadsTemplatesWithTheirMedia) {
  const ListFolder place;
  write_verification(place);
  const TrialSet set = read_trials(load_protocol("ijba_1_1"), {place.root()});
  ASSERT_EQ(set.tracks.size(), 1u);
  EXPECT_EQ(set.tracks[0].name, "split1");
  EXPECT_EQ(counts(set, "split1"), (Counts{{"comparisons", 3},
                                           {"genuine", 1},
                                           {"impostor", 2},
                                           {"templates", 4},
                                           {"samples", 6},
                                           {"identities", 3},
                                           {"folds", 0}}));
  EXPECT_EQ(set.templates.names[0], "split1/1");
  EXPECT_EQ(set.templates.begin, (std::vector<std::int64_t>{0, 3, 4, 5, 6}));
  EXPECT_EQ(set.templates.medium, (std::vector<std::int32_t>{11, 5, 5, 12, 13, 14}));
  EXPECT_EQ(set.names[1], "frame/5_1.png");
  ASSERT_EQ(set.notes.size(), 1u);
  EXPECT_HAS(set.notes[0], "1 of 10 are measured");
  ASSERT_EQ(set.lists.size(), 2u);
  ASSERT_EQ(set.blemishes.size(), 1u);
  EXPECT_EQ(set.blemishes[0].kind, BlemishKind::crlf);
}

TEST(Ijba11, MalformedListsAreErrorsWithFileAndLine) {
  struct Case {
    std::string file, from, to, expected;
  };
  for (const Case& c : std::initializer_list<Case>{
           {kMetadata, "TEMPLATE_ID", "TEMPLATE", "TEMPLATE_ID"},
           {kMetadata, "2,7,img/2.jpg,12,", "2,7,img/2.jpg,12", "verify_metadata_1.csv:5"},
           {kMetadata, "2,7,img/2.jpg", "x,7,img/2.jpg", "verify_metadata_1.csv:5"},
           {kMetadata, "2,7,img/2.jpg", "-2,7,img/2.jpg", "outside 0 to"},
           {kMetadata, "2,7,img/2.jpg,12", "2,7,img/2.jpg,99999999999", "outside 0 to"},
           {kMetadata, "2,7,img/2.jpg", "2,7,../img/2.jpg", "verify_metadata_1.csv:5"},
           {kMetadata, "2,7,img/2.jpg", "2,7,", "a name is empty"},
           {kMetadata, "1,7,frame/5_2", "1,8,frame/5_2", "of subject 8 here, of 7 before"},
           {kComparisons, "1,3\r\n", "1,5\r\n", "verify_comparisons_1.csv:2: template 5 is not"},
           {kComparisons, "1,3\r\n", "1,3,4\r\n", "verify_comparisons_1.csv:2"},
           {kComparisons, "1,3\r\n", "1,x\r\n", "verify_comparisons_1.csv:2"}}) {
    const ListFolder place;
    write_verification(place);
    place.replace(c.file, c.from, c.to);
    EXPECT_HAS(refusal("ijba_1_1", place), c.expected);
  }
  const ListFolder place;
  EXPECT_HAS(refusal("ijba_1_1", place), "verify_metadata_1.csv");
  write_verification(place);
  fs::remove(place.root() / kComparisons);  // a split of which half is missing is not absent
  EXPECT_HAS(refusal("ijba_1_1", place), "verify_comparisons_1.csv");
}

TEST(Ijba11, AByteOrderMarkIsTakenAndCounted) {
  const ListFolder place;
  write_verification(place);
  place.write(kMetadata, "\xEF\xBB\xBF" + read_file(place.root() / kMetadata));
  const TrialSet set = read_trials(load_protocol("ijba_1_1"), {place.root()});
  EXPECT_EQ(set.blemishes.at(0).kind, BlemishKind::byte_order_mark);
}

TEST(Ijba11, AFileThatShowsTwoSubjectsIsTwoSamples) {
  const ListFolder place;
  write_verification(place);
  place.replace(kMetadata, "4,9,img/4.jpg", "4,9,img/3.jpg");
  const TrialSet set = read_trials(load_protocol("ijba_1_1"), {place.root()});
  EXPECT_EQ(set.names[4], "img/3.jpg#8");
  EXPECT_EQ(set.names[5], "img/3.jpg#9");
  EXPECT_EQ(set.notes.size(), 2u);
}

EmbeddingSet embeddings_of(const TrialSet& set, int dim, double noise) {
  EmbeddingSet e;
  e.dim = dim;
  e.names = set.names;
  e.status.assign(set.names.size(), SampleStatus::ok);
  for (std::size_t i = 0; i < set.names.size(); ++i) {
    Random own(4, "image", {i});
    Random person(4, "person", {static_cast<std::uint64_t>(set.identity[i])});
    for (int k = 0; k < dim; ++k)
      e.values.push_back(static_cast<float>(person.normal() + noise * own.normal()));
  }
  return e;
}

TEST(Ijba11, MeanAndDeviationOverTheSplits) {
  const ListFolder place;
  write_verification(place);
  for (const std::string name : {"verify_metadata", "verify_comparisons"})
    place.write("IJB-A_11_sets/split2/" + name + "_2.csv",
                read_file(place.root() / ("IJB-A_11_sets/split1/" + name + "_1.csv")));
  place.write("IJB-A_11_sets/split2/verify_comparisons_2.csv", "1,2\n2,3\n1,4\n");
  const ProtocolSpec spec = load_protocol("ijba_1_1");
  const TrialSet set = read_trials(spec, {place.root()});
  EvaluationOptions o;
  o.interval = "none";
  // Split 1 accepts its genuine comparison at no false accept, split 2 does not.
  const std::vector<double> scores = {0.9, 0.1, 0.2, 0.3, 0.5, 0.1};
  const Result r = evaluate_scores(under(spec, set), scores, {}, o);
  ASSERT_EQ(r.tracks.size(), 3u);
  const TrackResult& mean = r.track("mean");
  EXPECT_EQ(mean.kind, "summary");
  EXPECT_EQ(mean.comparisons, 6);
  EXPECT_DOUBLE_EQ(mean.number("tar@far=0.1").value, 0.5);
  const auto& counts = std::get<TrackMean>(mean.number("tar@far=0.1").counts);
  EXPECT_DOUBLE_EQ(counts.sd, std::sqrt(0.5));
  EXPECT_EQ(counts.tracks, 2);
}

TEST(Ijba1n, GalleriesAndProbes) {
  const ListFolder place;
  const std::string at = "IJB-A_1N_sets/split3/search_";
  place.write(at + "gallery_3.csv", kHead + "1,7,img/1.jpg,11,\n2,8,img/2.jpg,12,\n");
  place.write(at + "probe_3.csv",
              kHead + "1,7,img/3.jpg,13,\n5,9,img/4.jpg,14,\n6,8,img/5.jpg,15,\n");
  const ProtocolSpec spec = load_protocol("ijba_1_n");
  const TrialSet set = read_trials(spec, {place.root()});
  const Counts c = counts(set, "split3");
  EXPECT_EQ(c.at("gallery"), 2);
  EXPECT_EQ(c.at("probes"), 3);
  EXPECT_EQ(c.at("mated"), 2);
  EXPECT_EQ(c.at("non_mated"), 1);
  // Probes x gallery: 7 finds itself, the non-mated one scores 0.6, 8 finds 7.
  ProtocolSpec small = parse_protocol(
      std::string(spec.text).replace(spec.text.find("[1, 5, 10]"), 10, "[1, 2]"), "small.toml");
  EvaluationOptions o;
  o.replicates = 50;
  const Result r =
      evaluate_scores(under(small, set), std::vector<double>{.9, .1, .6, .2, .5, .4}, {}, o);
  const TrackResult& t = r.track("split3");
  EXPECT_DOUBLE_EQ(t.number("rank@1").value, 0.5);
  EXPECT_DOUBLE_EQ(t.number("rank@2").value, 1);
  EXPECT_DOUBLE_EQ(t.number("dir@fpir=0.1").value, 0.5);  // above 0.6
  EXPECT_EQ(std::get<DirAtFpir>(t.number("dir@fpir=0.1").counts).false_positives, 0);
  EXPECT_TRUE(t.number("rank@1").interval.has_value());
}

const std::string kScores =
    "sample,identity,quality\na/1.jpg,a,12\na/2.jpg,a,30\na/3.jpg,a,60\nb/1.jpg,b,29.9\n"
    "b/2.jpg,b,59\nb/3.jpg,b,95\nb/4.jpg,b,61\n";

ProtocolSpec quality_by_scores() {
  std::string text = load_protocol("ijba_quality").text;
  for (const std::string line :
       {"high = \"namelist_high.mat\"\n", "middle = \"namelist_middle.mat\"\n"})
    text.replace(text.find(line), line.size(), "");
  const std::string low = "low = \"namelist_low.mat\"";
  return parse_protocol(text.replace(text.find(low), low.size(), "scores = \"quality.csv\""),
                        "mine.toml");
}

TEST(IjbaQuality, ScoresWithCutOffsMakeTheThreeSets) {
  const ListFolder place;
  place.write("quality.csv", kScores);
  const TrialSet set = read_trials(quality_by_scores(), {place.root()});
  EXPECT_EQ(counts(set, "low2high"), (Counts{{"comparisons", 6},
                                             {"genuine", 3},
                                             {"impostor", 3},
                                             {"templates", 0},
                                             {"samples", 5},
                                             {"identities", 2},
                                             {"rows", 2},
                                             {"columns", 3}}));
  EXPECT_EQ(counts(set, "middle2high").at("rows"), 2);
  // Rows are searched in the columns: 1.jpg of a finds a, 1.jpg of b finds a as well. (Rows a, b;
  // columns a/3, b/3, b/4, where people score as the best of theirs.)
  EvaluationOptions o;
  o.replicates = 50;
  std::string text = quality_by_scores().text;
  text.replace(text.find("[1, 5, 10]"), 10, "[1, 2]");
  const Result r =
      evaluate_scores(under(parse_protocol(text, "mine.toml"), set),
                      std::vector<double>{.9, .1, .2, .8, .3, .7, .9, .1, .2, .1, .3, .7}, {}, o);
  EXPECT_DOUBLE_EQ(r.track("low2high").number("rank@1").value, 0.5);
  EXPECT_DOUBLE_EQ(r.track("low2high").number("rank@2").value, 1);
  EXPECT_DOUBLE_EQ(r.track("middle2high").number("rank@1").value, 1);
  EXPECT_TRUE(r.track("low2high").number("auc").interval.has_value());
  EXPECT_TRUE(r.track("low2high").number("rank@1").interval.has_value());
  EXPECT_EQ(set.lists[0].role, "quality");
}

TEST(IjbaQuality, MalformedScoreFilesAreErrorsWithFileAndLine) {
  struct Case {
    std::string from, to, expected;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"sample,", "name,", "sample"},
           {"a/2.jpg,a,30", "a/2.jpg,a,nan", "quality.csv:3"},
           {"a/2.jpg,a,30", "a/2.jpg,a,", "quality.csv:3"},
           {"a/2.jpg,a,30", "a/2.jpg,a", "quality.csv:3"},
           {"a/2.jpg,a,30", "/a/2.jpg,a,30", "absolute"},
           {"a/2.jpg,a,30", "a/2.jpg,,30", "quality.csv:3: who is on a/2.jpg is not said"}}) {
    const ListFolder place;
    place.write("quality.csv", kScores);
    place.replace("quality.csv", c.from, c.to);
    std::string text;
    try {
      read_trials(quality_by_scores(), {place.root()});
    } catch (const Error& e) {
      text = e.what();
    }
    EXPECT_HAS(text, c.expected);
  }
  const ListFolder place;
  EXPECT_HAS(refusal("ijba_quality", place), "namelist_high.mat");
  for (const char* name : {"high", "middle", "low"})
    place.write(std::string("namelist_") + name + ".mat", "not a MAT file");
  EXPECT_HAS(refusal("ijba_quality", place), "namelist_high.mat");
}

fs::path real_data() {
  const char* data = std::getenv("FACEBENCH_DATA");
  return data ? fs::path(data) : fs::path();
}

TEST(RealIjba, SplitOneHoldsWhatIsPublished) {
  if (real_data().empty()) GTEST_SKIP() << "FACEBENCH_DATA is not set";
  const ProtocolSpec spec = load_protocol("ijba_1_1");
  const TrialSet set = read_trials(spec, {real_data() / "ijba"});
  const Counts c = counts(set, "split1");
  EXPECT_EQ(c.at("templates"), 1970);
  EXPECT_EQ(c.at("identities"), 167);
  EXPECT_EQ(c.at("comparisons"), 11787);
  EXPECT_EQ(c.at("genuine"), 1803);
  for (const std::string& difference : differences_from_official(spec, set))
    EXPECT_EQ(difference.find("split1 "), std::string::npos) << difference;
  EvaluationOptions o;
  o.replicates = 50;
  const Result r = evaluate(under(spec, set), embeddings_of(set, 32, 2.0), o);
  EXPECT_GT(r.track("split1").number("tar@far=0.01").value, 0.5);
  EXPECT_TRUE(r.track("split1").number("tar@far=0.01").interval.has_value());
}

TEST(RealIjba, QualityListsGiveTheAuthorsNumbers) {
  if (real_data().empty()) GTEST_SKIP() << "FACEBENCH_DATA is not set";
  const ProtocolSpec spec = load_protocol("ijba_quality");
  const TrialSet set = read_trials(spec, {{}, {}, real_data() / "ijba_quality"});
  EXPECT_EQ(counts(set, "low2high").at("genuine"), 18978);
  EXPECT_EQ(counts(set, "low2high").at("impostor"), 9541450);
  EXPECT_EQ(counts(set, "middle2high").at("genuine"), 41642);
  EXPECT_EQ(counts(set, "middle2high").at("impostor"), 20774971);
  EXPECT_EQ(set.names.size(), 21230u);
  EXPECT_TRUE(differences_from_official(spec, set).empty());
}

TEST(RealLfwSearch, PeopleGiveAllImages) {
  if (real_data().empty()) GTEST_SKIP() << "FACEBENCH_DATA is not set";
  const ProtocolSpec spec = load_protocol("lfw_search");
  const TrialSet set = read_trials(spec, {real_data() / "lfw"});
  EXPECT_EQ(set.names.size(), 13233u);
  EXPECT_TRUE(differences_from_official(spec, set).empty());
  EXPECT_EQ(find_images(spec, set, {real_data() / "lfw"}), real_data() / "lfw/images");
  // The copy at hand lacks one photograph: its embedding is missing, which is counted and listed.
  EmbeddingSet e = embeddings_of(set, 4, 1.0);
  const auto at =
      std::ranges::find(e.names, "Betsy_Coffin/Betsy_Coffin_0001.jpg") - e.names.begin();
  e.names.erase(e.names.begin() + at);
  e.status.pop_back();
  e.values.erase(e.values.begin() + at * 4, e.values.begin() + at * 4 + 4);
  EvaluationOptions o;
  o.allow_missing = true;
  o.interval = "none";
  const Result r = evaluate(under(spec, set), e, o);
  ASSERT_EQ(r.tracks[0].failed.size(), 1u);
  EXPECT_EQ(r.tracks[0].failed[0].status, SampleStatus::missing);
}

TEST(LfwSearch, MalformedListsAreErrorsWithLine) {
  const std::string good = "2\n2\nAnn\t3\nBob\t1\n1\nCat\t2\n";
  struct Case {
    std::string from, to, expected;
  };
  for (const Case& c : std::initializer_list<Case>{{"2\n2\n", "2\n9\n", "people.txt"},
                                                   {"2\n2\n", "0\n2\n", "people.txt:1"},
                                                   {"Ann\t3", "Ann 3", "people.txt:3"},
                                                   {"Ann\t3", "Ann\t0", "people.txt:3"},
                                                   {"Ann\t3", "Ann/x\t3", "not a person's name"},
                                                   {"Cat\t2\n", "Cat\t2\nDan\t1\n", "more lines"},
                                                   {"1\nCat\t2\n", "", "ends where"}}) {
    const ListFolder place;
    place.write("people.txt", good);
    EXPECT_EQ(refusal("lfw_search", place), "");
    place.replace("people.txt", c.from, c.to);
    EXPECT_HAS(refusal("lfw_search", place), c.expected);
  }
}

TEST(LfwSearch, APersonWhoIsListedTwiceCountsOnce) {
  const ListFolder place;
  place.write("people.txt", "2\n2\nAnn\t3\nBob\t1\n1\nAnn\t2\n");
  const TrialSet set = read_trials(load_protocol("lfw_search"), {place.root()});
  EXPECT_EQ(set.names.size(), 4u);
  ASSERT_EQ(set.blemishes.size(), 1u);
  EXPECT_EQ(set.blemishes[0].count, 1);
}

TEST(Folders, PeopleOfOnesOwn) {
  const ListFolder place;
  for (const std::string name : {"ann/1.jpg", "ann/2.JPG", "ann/3.png", "bob/1.jpg", "bob/2.jpg",
                                 "cat/1.pgm", "ann/notes.txt", ".cache/x.jpg", "readme.md"})
    place.write(name, "bytes of " + name);
  const ProtocolSpec spec = load_protocol("folders");
  const TrialSet set = read_trials(spec, {place.root()});
  EXPECT_EQ(set.names, (std::vector<std::string>{"ann/1.jpg", "ann/2.JPG", "ann/3.png", "bob/1.jpg",
                                                 "bob/2.jpg", "cat/1.pgm"}));
  EXPECT_EQ(counts(set, "verification").at("comparisons"), 15);
  EXPECT_EQ(counts(set, "verification").at("genuine"), 4);
  EXPECT_EQ(counts(set, "identification").at("gallery"), 2);
  EXPECT_EQ(counts(set, "identification").at("non_mated"), 1);
  EmbeddingSet e = embeddings_of(set, 16, 0.3);
  e.names.push_back("bob/1.jpg#1");
  e.status.push_back(SampleStatus::ok);
  e.values.resize(e.values.size() + 16, 1.0f);
  EvaluationOptions o;
  o.replicates = 100;
  const Result r = evaluate(under(spec, set), e, o);
  const Number& cell = r.track("verification").number("threshold@far=0.01");
  EXPECT_EQ(std::get<ThresholdAtFar>(cell.counts).people, 3);
  EXPECT_EQ(cell.value,
            std::get<TarAtFar>(r.track("verification").number("tar@far=0.01").counts).threshold);
  // Most draws of three people leave one class empty.
  EXPECT_HAS(cell.no_interval, "too few people");
  EXPECT_HAS(r.notes.back(), "1 images show more faces");

  place.write("cat/again.png", "bytes of bob/2.jpg");
  const TrialSet less = read_trials(spec, {place.root()});
  EXPECT_EQ(less.names, (std::vector<std::string>{"ann/1.jpg", "ann/2.JPG", "ann/3.png",
                                                  "bob/1.jpg", "cat/1.pgm"}));
  EXPECT_HAS(less.notes.at(3), "2 copies of images");
  fs::remove(place.root() / "cat/again.png");
  for (const char* name : {"ann/2.JPG", "ann/3.png", "bob/2.jpg"}) fs::remove(place.root() / name);
  EXPECT_HAS(refusal("folders", place), "nobody has two images");
  fs::remove_all(place.root() / "ann");
  fs::remove_all(place.root() / "bob");
  const std::string alone = refusal("folders", place);
  EXPECT_HAS(alone, "1 people have images. ");
  EXPECT_HAS(alone, "1 (.cache). 1 files lie outside of the folders");
  place.write("dan/1.png", "one");
  place.write("eve/1.png", "one");
  place.write("eve/2.txt", "two");
  const std::string nobody = refusal("folders", place);
  EXPECT_HAS(nobody, "1 people have images. ");  // cat
  EXPECT_HAS(nobody, "1 of 4 files in the folders are not JPEG");
  EXPECT_HAS(nobody, "2 copies of images were left out");
}

}  // namespace
}  // namespace facebench
