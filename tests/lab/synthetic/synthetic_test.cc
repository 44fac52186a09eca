#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "facebench/core/error.h"
#include "facebench/datasets/dataset.h"
#include "facebench/io/file.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/synthetic/render.h"
#include "facebench/synthetic/writer.h"
#include "io/helpers.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

FaceNuisance photo(std::string_view kind, std::uint64_t number) {
  Random random(1, "test", {number});
  return make_nuisance(kind, random);
}

// All files below a folder with their bytes, one text.
std::string folder_content(const fs::path& folder) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files.insert(entry.path().lexically_relative(folder).string() + " " +
                   sha256_file(entry.path()));
  std::string text;
  for (const std::string& file : files) text += file + "\n";
  return text;
}

double mean_difference(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.data.size(); ++i) sum += std::abs(a.data[i] - b.data[i]);
  return sum / static_cast<double>(a.data.size());
}

TEST(Identity, RepeatsAndHasTheAskedSpread) {
  const FaceIdentity a = make_identity(7, 3, 0.6), b = make_identity(7, 3, 0.6);
  EXPECT_EQ(a.traits, b.traits);
  EXPECT_NE(a.traits, make_identity(7, 4, 0.6).traits);
  EXPECT_NE(a.traits, make_identity(8, 3, 0.6).traits);
  for (const float t : make_identity(7, 3, 0).traits) EXPECT_EQ(t, 0);
  double sum = 0, squares = 0;
  int n = 0;
  for (int i = 0; i < 200; ++i)
    for (const float t : make_identity(1, i, 0.5).traits) {
      sum += t;
      squares += t * t;
      ++n;
    }
  EXPECT_NEAR(sum / n, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / n), 0.5, 0.02);
  EXPECT_THROW(make_identity(1, -1), std::invalid_argument);
  EXPECT_THROW(make_identity(1, 0, 2.5), std::invalid_argument);
  EXPECT_EQ(face_trait_names().size(), static_cast<std::size_t>(kFaceTraits));
}

TEST(Nuisance, EveryKindIsWithinItsDeclaredRanges) {
  for (const NuisanceKind& kind : nuisance_kinds().entries()) {
    EXPECT_FALSE(kind.doc.empty());
    for (std::uint64_t i = 0; i < 50; ++i) EXPECT_NO_THROW(check_options(photo(kind.name, i)));
  }
  Random random(1, "test");
  EXPECT_THROW(make_nuisance("frontl", random), std::invalid_argument);
}

TEST(Nuisance, QualityGroupsAreCutAt30And60) {
  EXPECT_EQ(quality_group(29.9), QualityGroup::low);
  EXPECT_EQ(quality_group(30), QualityGroup::middle);
  EXPECT_EQ(quality_group(60), QualityGroup::high);
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(quality_group(quality_score(photo("frontal", i))), QualityGroup::high);
    EXPECT_EQ(quality_group(quality_score(photo("low_resolution", i))), QualityGroup::low);
  }
}

TEST(Render, SameBytesForTheSameArguments) {
  const FaceIdentity person = make_identity(1, 0);
  const FaceNuisance n = photo("wild", 0);
  const SyntheticFace a = render_face(person, n, 96), b = render_face(person, n, 96);
  EXPECT_EQ(a.image, b.image);
  EXPECT_EQ(a.box, b.box);
  EXPECT_NE(a.image, render_face(make_identity(1, 1), n, 96).image);
  EXPECT_NE(a.image, render_face(person, photo("wild", 1), 96).image);
}

TEST(Render, EveryKindDrawsAndItsDisguiseChangesThePicture) {
  const FaceIdentity person = make_identity(2, 5);
  for (const NuisanceKind& kind : nuisance_kinds().entries()) {
    FaceNuisance n = photo(kind.name, 3);
    const SyntheticFace face = render_face(person, n, 64);
    EXPECT_EQ(face.image.width, 64) << kind.name;
    EXPECT_EQ(face.disguise, disguise_of(n));
    if (n.disguise == "none") continue;
    n.disguise = "none";
    EXPECT_GT(mean_difference(face.image, render_face(person, n, 64).image), .3) << kind.name;
  }
}

TEST(Render, LandmarksLieInTheBoxAndInOrder) {
  for (std::uint64_t i = 0; i < 8; ++i) {
    const SyntheticFace f = render_face(make_identity(3, static_cast<std::int64_t>(i)),
                                        photo(i % 2 ? "frontal" : "yaw45", i), 64);
    for (const Point& p : f.landmarks) {
      EXPECT_GT(p.x, f.box.x0);
      EXPECT_LT(p.x, f.box.x1 + 3);  // the tip of a turned nose may stand out
      EXPECT_GT(p.y, f.box.y0);
      EXPECT_LT(p.y, f.box.y1);
    }
    EXPECT_LT(f.landmarks[0].x, f.landmarks[1].x);
    EXPECT_LT(f.landmarks[3].x, f.landmarks[4].x);
    EXPECT_LT(f.landmarks[0].y, f.landmarks[2].y);
    EXPECT_LT(f.landmarks[2].y, f.landmarks[3].y);
  }
}

TEST(Render, LandmarksFollowThePose) {
  FaceNuisance n;
  n.smile = 0;
  const FaceIdentity average = make_identity(1, 0, 0);
  const SyntheticFace front = render_face(average, n, 200);
  // The average face is symmetric about the middle of the image, pixel centres counted.
  EXPECT_NEAR(front.landmarks[2].x, 99.5, .01);
  EXPECT_NEAR(front.landmarks[0].x + front.landmarks[1].x, 199, .05);
  n.yaw = 40;
  EXPECT_GT(render_face(average, n, 200).landmarks[2].x, front.landmarks[2].x + 15);
  n.yaw = 0;
  n.pitch = 15;  // chin up: the nose moves up
  EXPECT_LT(render_face(average, n, 200).landmarks[2].y, front.landmarks[2].y - 5);
  n.pitch = 0;
  n.roll = 20;  // clockwise: the right eye of the image goes down
  const SyntheticFace rolled = render_face(average, n, 200);
  EXPECT_GT(rolled.landmarks[1].y, rolled.landmarks[0].y + 10);
}

TEST(Render, SupersamplingAndSizeKeepTheGeometry) {
  const FaceIdentity person = make_identity(4, 1);
  FaceNuisance n = photo("frontal", 2);
  n.noise = 0;
  const SyntheticFace one = render_face(person, n, 128, 1), three = render_face(person, n, 128, 3);
  EXPECT_NEAR(one.box.x0, three.box.x0, .01);
  EXPECT_NEAR(one.landmarks[4].y, three.landmarks[4].y, .01);
  EXPECT_LT(mean_difference(one.image, three.image), 4);
  const SyntheticFace twice = render_face(person, n, 256);
  EXPECT_NEAR(twice.landmarks[0].x + .5, 2 * (one.landmarks[0].x + .5), .05);
}

TEST(Render, RejectsWhatIsOutOfRange) {
  const FaceIdentity person = make_identity(1, 0);
  EXPECT_THROW(render_face(person, {}, 16), std::invalid_argument);
  EXPECT_THROW(render_face(person, {}, 64, 5), std::invalid_argument);
  FaceNuisance n;
  n.disguise = "beard";
  EXPECT_THROW(render_face(person, n, 64), std::invalid_argument);
  n = {};
  n.yaw = 170;
  EXPECT_THROW(render_face(person, n, 64), std::invalid_argument);
}

TEST(Writer, SameBytesForAnyNumberOfThreads) {
  TemporaryFolder folder;
  SyntheticOptions o;
  o.people = 20;
  o.images = 3;
  o.size = 48;
  Job one, three;
  one.threads = 1;
  three.threads = 3;
  const SyntheticSummary a = write_synthetic_dataset(o, folder / "a", one);
  const SyntheticSummary b = write_synthetic_dataset(o, folder / "b", three);
  EXPECT_EQ(a.tree_sha256, b.tree_sha256);
  EXPECT_EQ(folder_content(folder / "a"), folder_content(folder / "b"));
  EXPECT_EQ(a.images, 60);
  EXPECT_EQ(read_lfw_folder(folder / "a").samples.size(), 60u);
}

TEST(Writer, ListsAreOfTheOfficialFormAndNameFilesThatExist) {
  TemporaryFolder folder;
  SyntheticOptions o;
  o.people = 40;
  o.images = 4;
  o.size = 32;
  o.pairs_per_fold = 15;
  write_synthetic_dataset(o, folder / "d");
  const fs::path lists = folder / "d" / "protocol", images = folder / "d" / "images";
  const auto exists = [&](std::string_view person, std::string_view number) {
    const std::string name(person);
    return fs::exists(images / name / (name + "_000" + std::string(number) + ".jpg"));
  };
  const TextFile pairs(lists / "pairs.txt");
  ASSERT_EQ(pairs.lines()[0].text, "10\t15");
  ASSERT_EQ(pairs.lines().size(), 1u + 10 * 30);
  std::vector<std::set<std::string>> people(10);
  std::set<std::string> distinct;
  for (std::size_t i = 1; i < pairs.lines().size(); ++i) {
    const auto fields = split_tabs(pairs.lines()[i].text);
    const std::size_t fold = (i - 1) / 30;
    const bool genuine = (i - 1) % 30 < 15;
    ASSERT_EQ(fields.size(), genuine ? 3u : 4u) << i;
    EXPECT_TRUE(exists(fields[0], fields[1]));
    EXPECT_TRUE(genuine ? exists(fields[0], fields[2]) : exists(fields[2], fields[3]));
    people[fold].emplace(fields[0]);
    if (!genuine) people[fold].emplace(fields[2]);
    EXPECT_TRUE(distinct.emplace(pairs.lines()[i].text).second) << "a pair twice";
  }
  std::size_t sum = 0;
  std::set<std::string> all;
  for (const auto& fold : people) {
    sum += fold.size();
    all.insert(fold.begin(), fold.end());
  }
  EXPECT_EQ(sum, all.size()) << "a person is in two folds";
  EXPECT_EQ(TextFile(lists / "people.txt").lines()[0].text, "10");
  EXPECT_EQ(TextFile(lists / "pairsDevTrain.txt").lines().size() % 2, 1u);
  const CsvTable truth = read_csv(folder / "d" / "truth.csv");
  EXPECT_EQ(truth.rows(), 160u);
  EXPECT_LT(truth.number(0, truth.column("box_x0")), truth.number(0, truth.column("box_x1")));
}

TEST(Writer, LeavesNothingWhenStoppedOrRefused) {
  TemporaryFolder folder;
  SyntheticOptions o;
  o.people = 20;
  o.images = 2;
  o.size = 32;
  Job job;
  job.poll = [] { throw Cancelled(); };
  EXPECT_THROW(write_synthetic_dataset(o, folder / "d", job), Cancelled);
  EXPECT_EQ(folder.entries(), 0u);
  o.people = 5;
  EXPECT_THROW(write_synthetic_dataset(o, folder / "d"), std::invalid_argument);
  EXPECT_EQ(folder.entries(), 0u);
  o.people = 20;
  write_file(folder / "full" / "x", "x");
  EXPECT_THROW(write_synthetic_dataset(o, folder / "full"), Error);
}

TEST(Sheet, HasARowForEachPersonAndAColumnForEachKind) {
  SheetOptions o;
  o.people = 2;
  o.size = 32;
  const Image sheet = render_sheet(o);
  EXPECT_EQ(sheet.height, 64);
  EXPECT_EQ(sheet.width, 32 * static_cast<int>(nuisance_kinds().entries().size()));
}

}  // namespace
}  // namespace facebench
