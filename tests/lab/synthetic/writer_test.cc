#include "facebench/synthetic/writer.h"

#include <gtest/gtest.h>

#include <set>

#include "facebench/core/error.h"
#include "facebench/datasets/dataset.h"
#include "facebench/io/file.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "io/helpers.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

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

}  // namespace
}  // namespace facebench
