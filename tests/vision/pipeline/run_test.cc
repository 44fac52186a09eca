#include "facebench/pipeline/run.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/pipeline/verify.h"
#include "facebench/synthetic/writer.h"
#include "io/helpers.h"

// From images to a run folder and back, on ten pairs of drawn faces that need no detector.
namespace facebench {
namespace {

namespace fs = std::filesystem;

class RunTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new TemporaryFolder;
    SyntheticOptions few;
    few.people = 20;
    few.images = 2;
    few.size = 32;
    few.pairs_per_fold = 1;
    write_synthetic_dataset(few, *place_ / "faces");
    save_model(make_model("small4", {.height = 16, .width = 16, .embedding = 8},
                          {.detector = "none", .crop = "paper"}, "xavier_uniform", 3),
               *place_ / "model.safetensors");
  }
  static void TearDownTestSuite() {
    delete place_;
    place_ = nullptr;
  }

  RunRequest request(const fs::path& root = *place_ / "faces") const {
    RunRequest r;
    r.protocol = "lfw";
    r.places.root = root;
    r.evaluation.interval = "none";
    return r;
  }
  fs::path model() const { return *place_ / "model.safetensors"; }
  // A copy of the images and lists, to be changed.
  fs::path copy() const {
    fs::copy(*place_ / "faces", folder / "faces", fs::copy_options::recursive);
    return folder / "faces";
  }
  static std::vector<std::string> different(const fs::path& run, const fs::path& root = {}) {
    std::vector<std::string> names;
    for (const Check& check : verify(run, root))
      if (check.checked && !check.same) names.push_back(check.name);
    return names;
  }

  const TemporaryFolder folder;

 private:
  inline static TemporaryFolder* place_ = nullptr;
};

TEST_F(RunTest, TheSameBytesWithAnyNumberOfThreadsAndFromTheCache) {
  RunRequest cached = request();
  cached.cache = folder / "cache";
  std::vector<std::string> reused;
  cached.reused = [&](const std::string& what) { reused.push_back(what); };
  const Result result = run(request(), model(), folder / "one", {.threads = 1});
  ASSERT_EQ(result.tracks.size(), 1U);
  EXPECT_EQ(result.tracks[0].comparisons, 20);
  EXPECT_TRUE(result.tracks[0].failed.empty());
  run(cached, model(), folder / "three", {.threads = 3});
  EXPECT_TRUE(reused.empty());
  run(cached, model(), folder / "again");
  EXPECT_EQ(reused, (std::vector<std::string>{"pack", "embeddings"}));
  for (const char* name : {"scores.h5", "metrics.json", "curves.json", "pack.h5", "embeddings.h5"})
    for (const char* other : {"three", "again"})
      EXPECT_EQ(read_file(folder / "one" / name), read_file(folder / other / name)) << name;
  EXPECT_TRUE(all_same(verify(folder / "again")));
}

TEST_F(RunTest, VerificationNamesWhatWasChanged) {
  const fs::path root = copy();
  run(request(root), model(), folder / "run");
  EXPECT_TRUE(different(folder / "run").empty());
  // Moved, they are found where they are said to be.
  fs::rename(root, folder / "moved");
  EXPECT_TRUE(different(folder / "run", folder / "moved").empty());
  const auto image = [&] {
    for (const auto& entry : fs::recursive_directory_iterator(folder / "moved/images"))
      if (entry.is_regular_file()) return entry.path();
    return fs::path();
  }();
  std::ofstream(image, std::ios::app) << '\0';
  EXPECT_EQ(different(folder / "run", folder / "moved"), std::vector<std::string>{"images"});
}

TEST_F(RunTest, AnImageThatCannotBeReadIsARowAndWhatFailsLeavesNothing) {
  const fs::path root = copy();
  const std::string name = read_trials(load_protocol("lfw"), {.root = root}).names[0];
  write_file(root / "images" / name, "no picture");
  const Result result = run(request(root), model(), folder / "run");
  ASSERT_EQ(result.tracks[0].failed.size(), 1U);
  EXPECT_EQ(result.tracks[0].failed[0].name, name);
  EXPECT_ERROR(run(request(root), model(), folder / "run"), "exists");
  write_file(folder / "other.safetensors", "no model");
  EXPECT_ERROR(run(request(root), folder / "other.safetensors", folder / "none"), "safetensors");
  EXPECT_FALSE(fs::exists(folder / "none"));
}

}  // namespace
}  // namespace facebench
