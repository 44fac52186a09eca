#include "facebench/datasets/overlap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "facebench/core/error.h"
#include "facebench/core/random.h"
#include "facebench/datasets/exclusion.h"
#include "facebench/io/file.h"
#include "io/helpers.h"

namespace facebench {
namespace {

constexpr std::int64_t kDim = 64;

// `people` with `images` embeddings each, around a centre that is drawn by the person's number.
OverlapSide made(const std::vector<std::pair<std::string, std::uint64_t>>& people, int images,
                 std::uint64_t seed) {
  OverlapSide side;
  side.name = "set" + std::to_string(seed);
  Random noise(seed, "overlap_test.noise");
  for (std::size_t p = 0; p < people.size(); ++p) {
    side.people.push_back(people[p].first);
    for (int i = 0; i < images; ++i) {
      side.samples.push_back(people[p].first + "/" + std::to_string(i) + ".jpg");
      side.labels.push_back(static_cast<std::int32_t>(p));
      Random centre(people[p].second, "overlap_test.person");
      for (std::int64_t k = 0; k < kDim; ++k)
        side.embeddings.values.push_back(
            static_cast<float>(centre.normal() + 0.3 * noise.normal()));
    }
  }
  side.embeddings.dim = kDim;
  side.embeddings.names = side.samples;
  side.embeddings.status.assign(side.samples.size(), SampleStatus::ok);
  return side;
}

OverlapSide train() {
  return made({{"Doe_Jane", 1}, {"Ann_Lee", 2}, {"Somebody", 3}, {"Bob_Ray", 4}, {"Eve_Fox", 5}}, 4,
              1);
}
// Jane by another spelling, Somebody under another name, a namesake of Ann, three others.
OverlapSide test_set() {
  return made({{"Jane Doe", 1}, {"X_Y", 3}, {"Ann_Lee", 20}, {"Kim_Poe", 21}, {"Lou_Roe", 22}}, 3,
              2);
}

const OverlapEntry* entry(const OverlapReport& r, const std::string& person) {
  for (const OverlapEntry& e : r.entries)
    if (r.train.people[static_cast<std::size_t>(e.person)] == person) return &e;
  return nullptr;
}

TEST(Overlap, IsFoundByNameAndBySimilarity) {
  const OverlapReport r = find_overlap(train(), test_set());
  ASSERT_EQ(r.entries.size(), 3u);
  const OverlapEntry *jane = entry(r, "Doe_Jane"), *somebody = entry(r, "Somebody"),
                     *ann = entry(r, "Ann_Lee");
  ASSERT_TRUE(jane && somebody && ann);
  EXPECT_EQ(jane->rule, "reordered");
  EXPECT_EQ(jane->similar_pairs, 12);
  EXPECT_EQ(jane->images, 4);
  EXPECT_EQ(somebody->rule, "");
  EXPECT_EQ(r.test.people[static_cast<std::size_t>(somebody->match)], "X_Y");
  EXPECT_GT(somebody->score, 0.8);
  // A namesake is listed, and what the images say of it.
  EXPECT_EQ(ann->rule, "same");
  EXPECT_EQ(ann->similar_pairs, 0);
  EXPECT_LT(ann->score, r.threshold);
  EXPECT_NE(overlap_csv(r).find("a namesake?"), std::string::npos);
  EXPECT_EQ(r.dropped_people(), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(r.dropped_images(), 12);
}

TEST(Overlap, TheChosenThresholdIsTheImpostorsOfTheTestSet) {
  const OverlapSide test = test_set();
  double highest = -1;
  const auto cosine = [&](std::size_t i, std::size_t j) {
    double dot = 0, aa = 0, bb = 0;
    for (std::size_t k = 0; k < kDim; ++k) {
      const double x = test.embeddings.row(i)[k], y = test.embeddings.row(j)[k];
      dot += x * y;
      aa += x * x;
      bb += y * y;
    }
    return dot / std::sqrt(aa * bb);
  };
  std::vector<double> impostors;
  for (std::size_t i = 0; i < test.samples.size(); ++i)
    for (std::size_t j = i + 1; j < test.samples.size(); ++j)
      if (test.labels[i] != test.labels[j]) impostors.push_back(cosine(i, j));
  std::ranges::sort(impostors, std::greater<double>());
  highest = impostors.front();
  // 300 compared pairs, 90 impostor pairs: a rate of 1 in 300 cannot be told.
  const OverlapReport r = find_overlap(train(), test_set());
  EXPECT_NEAR(r.threshold, highest, 1e-12);
  EXPECT_GT(r.threshold, highest - 1e-15);
  EXPECT_NE(r.threshold_reason.find("up to 10 of the 300"), std::string::npos)
      << r.threshold_reason;
  // 20 in 300 are 6 of 90: the seventh must not pass.
  OverlapOptions options;
  options.false_alarms = 20;
  const OverlapReport loose = find_overlap(train(), test_set(), options);
  EXPECT_NEAR(loose.threshold, impostors[6], 1e-12);
  EXPECT_NE(loose.threshold_reason.find("6 of 90"), std::string::npos) << loose.threshold_reason;
}

TEST(Overlap, ThreadsChangeNothing) {
  Job job;
  job.threads = 3;
  EXPECT_EQ(overlap_json(find_overlap(train(), test_set())),
            overlap_json(find_overlap(train(), test_set(), {}, job)));
}

TEST(Overlap, NamesAloneAndFailedImages) {
  OverlapSide a = train(), b = test_set();
  a.embeddings = {};
  const OverlapReport names = find_overlap(a, b);
  EXPECT_FALSE(names.compared_images);
  EXPECT_EQ(names.entries.size(), 2u);
  EXPECT_TRUE(std::isnan(names.entries[0].score));
  OverlapOptions options;
  options.names = false;
  EXPECT_THROW(find_overlap(a, b, options), std::invalid_argument);
  a = train();
  for (std::size_t i = 8; i < 12; ++i) {  // Somebody
    a.embeddings.status[i] = SampleStatus::no_face;
    std::fill_n(a.embeddings.values.begin() + static_cast<std::ptrdiff_t>(i) * kDim, kDim, 0.0f);
  }
  EXPECT_EQ(entry(find_overlap(a, b), "Somebody"), nullptr);
  const OverlapSide alone = made({{"A_B", 1}}, 3, 9);
  EXPECT_THROW(find_overlap(train(), alone), std::invalid_argument);  // no impostors, no threshold
  options.names = true;
  options.threshold = 0.7;
  EXPECT_EQ(find_overlap(train(), alone, options).threshold_reason, "given by the caller");
}

class OverlapFiles : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(OverlapFiles, EmbeddingsTellPeopleByFolder) {
  const OverlapSide a = train();
  write_embeddings(folder_ / "a.h5", a.embeddings);
  const OverlapSide read = read_overlap_side(folder_ / "a.h5");
  EXPECT_EQ(read.people, a.people);
  EXPECT_EQ(read.labels, a.labels);
  EXPECT_EQ(read.embeddings.values, a.embeddings.values);
  EmbeddingSet flat = a.embeddings;
  for (std::size_t i = 0; i < flat.names.size(); ++i) flat.names[i] = std::to_string(i) + ".jpg";
  write_embeddings(folder_ / "flat.h5", flat);
  EXPECT_THROW(read_overlap_side(folder_ / "flat.h5"), Error);
  EXPECT_THROW(read_overlap_side(folder_ / "a.h5", folder_ / "flat.h5"), Error);
}

TEST_F(OverlapFiles, TheExclusionListGoesRoundAndLeavesPeopleOut) {
  const OverlapReport r = find_overlap(train(), test_set());
  write_file(folder_ / "out.txt", overlap_exclusion(r));
  const Exclusion e = read_exclusion(folder_ / "out.txt");
  EXPECT_EQ(e.people, (std::set<std::string>{"Ann_Lee", "Doe_Jane", "Somebody"}));
  Dataset d;
  d.label_names = {"Ann_Lee", "Bob_Ray", "Eve_Fox"};
  for (std::int32_t p = 0; p < 3; ++p)
    for (int i = 0; i < 2; ++i)
      d.samples.push_back(
          {d.label_names[static_cast<std::size_t>(p)] + "/" + std::to_string(i), {}, p});
  const Dataset left = exclude(d, {e});
  ASSERT_EQ(left.samples.size(), 4u);
  EXPECT_EQ(left.samples[0].id, "Bob_Ray/0");
  EXPECT_EQ(left.samples[0].label, 1);
  EXPECT_EQ(left.excluded["images"], 2);
  EXPECT_EQ(left.excluded["list_sha256"], e.sha256);
  EXPECT_EQ(left.excluded["not_there"], (Json{"person Doe_Jane", "person Somebody"}));
  write_file(folder_ / "one.txt", "sample\tEve_Fox/1\n");
  EXPECT_EQ(exclude(d, {read_exclusion(folder_ / "one.txt")}).samples.size(), 5u);
}

TEST_F(OverlapFiles, WrongListsAreRefusedWithTheirLine) {
  const auto message = [&](const std::string& text) {
    write_file(folder_ / "list.txt", text);
    try {
      read_exclusion(folder_ / "list.txt");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message("# fine\n\nperson Jane\n").find("list.txt:3: "), std::string::npos);
  EXPECT_NE(message("person\tA\nperson\tA\n").find("list.txt:2: "), std::string::npos);
  EXPECT_NE(message("people\tA\n").find("list.txt:1: "), std::string::npos);
  EXPECT_NE(message("person\t\n").find("list.txt:1: "), std::string::npos);
  EXPECT_EQ(message("person\tA\nsample\tA\n"), "");
  Dataset d;
  d.label_names = {"B"};
  d.samples = {{"B/1", {}, 0}};
  EXPECT_THROW(exclude(d, {read_exclusion(folder_ / "list.txt")}), Error);  // other data
  write_file(folder_ / "all.txt", "person\tB\n");
  EXPECT_THROW(exclude(d, {read_exclusion(folder_ / "all.txt")}), Error);  // nothing left
  EXPECT_THROW(exclusion_text({"a\tb"}, {}, "x"), std::invalid_argument);
}

}  // namespace
}  // namespace facebench
