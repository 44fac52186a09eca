// Trainings whose classes are split over processes: checkpoints in parts, and going on with another
// number of processes.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/random.h"
#include "facebench/io/file.h"
#include "facebench/io/safetensors.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/training/checkpoint.h"
#include "facebench/training/trainer.h"
#include "io/helpers.h"
#include "nn/thread_communicator.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// No batch norm, so that any number of processes gives the same up to rounding; batches of 9 and a
// last one of 6, which 2 or 4 processes do not share evenly.
constexpr const char* kRecipe = R"(
version = 1
title = "for tests"
[network]
name = "sphereface4"
embedding = 8
[loss]
name = "cosface"
s = 8
[training]
epochs = 4
batch = 9
last_batch = "keep"
split_classes = true
[optimizer]
lr = 0.02
clip_norm = 1
)";

class SplitTraining : public ::testing::Test {
 protected:
  void SetUp() override {
    Random random(1, "pictures");
    for (std::int64_t i = 0; i < kImages; ++i) {
      labels_.push_back(i % 7);
      for (int p = 0; p < 16 * 16 * 3; ++p)
        pixels_.push_back(static_cast<std::uint8_t>(i % 7 * 30 + random.below(60)));
    }
    images_.emplace(pixels_.data(), kImages, ImageShape{16, 16}, std::vector<std::string>{});
    set_.images = &*images_;
    set_.labels = labels_;
    options_.threads = 1;
    options_.data_threads = 0;
    options_.checkpoint_every = 5;
    options_.log_every = 1;
  }

  void train_with(int processes, const std::string& name, bool resume = false) {
    TrainOptions options = options_;
    options.resume = resume;
    ThreadProcesses(processes).run([&](Communicator& communicator) {
      train(recipe_, set_, communicator.rank() == 0 ? folder_ / name : fs::path("elsewhere"),
            options, {}, {}, communicator);
    });
  }

  fs::path checkpoints(const std::string& name) { return folder_ / name / "checkpoints"; }
  std::string bytes(const std::string& name) {
    return read_file(folder_ / name / "model.safetensors");
  }
  std::vector<double> losses(const std::string& name) {
    std::vector<double> values;
    const std::string text = read_file(folder_ / name / "log.jsonl");
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      const Json line = Json::parse(text.substr(at, end - at));
      if (line.contains("loss")) values.push_back(line.at("loss").get<double>());
    }
    return values;
  }
  // As a training that was interrupted after `iteration` leaves it.
  void go_back_to(const std::string& name, std::int64_t iteration) {
    for (const fs::path& file : list_checkpoints(checkpoints(name)))
      if (file > checkpoint_path(checkpoints(name), iteration)) fs::remove(file);
    fs::remove(folder_ / name / "model.safetensors");
  }
  // Every tensor of a checkpoint, whatever file it is in.
  std::map<std::string, at::Tensor> state_of(const fs::path& checkpoint) {
    std::map<std::string, at::Tensor> result;
    std::map<std::string, std::vector<at::Tensor>> rows;
    const auto tensor = [](const TensorInfo& info) {
      at::Tensor t = at::empty(info.shape, info.dtype == DType::f32 ? at::kFloat : at::kLong);
      std::memcpy(t.data_ptr(), info.bytes.data(), info.bytes.size());
      return t;
    };
    const SafetensorsFile file(checkpoint);
    for (const auto& [name, info] : file.tensors()) result[name] = tensor(info);
    const Json parts = read_checkpoint_state(checkpoint).parts;
    for (const Json& part : parts) {
      const SafetensorsFile own(checkpoint.parent_path() / part.at("file").get<std::string>());
      for (const auto& [name, info] : own.tensors()) rows[name].push_back(tensor(info));
    }
    for (const auto& [name, all] : rows) result[name] = at::cat(all);
    return result;
  }

  static constexpr std::int64_t kImages = 33;
  TemporaryFolder folder_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::int64_t> labels_;
  std::optional<ImageArray> images_;
  TrainingSet set_;
  Recipe recipe_ = parse_recipe(kRecipe, "split.toml");
  TrainOptions options_;
};

TEST_F(SplitTraining, AnyNumberOfProcessesGivesTheSameCourse) {
  recipe_.training.split_classes = false;
  train_with(1, "whole");
  const std::vector<double> wanted = losses("whole");
  ASSERT_EQ(wanted.size(), 16u);
  recipe_.training.split_classes = true;
  for (const int processes : {1, 2, 3}) {
    const std::string name = std::to_string(processes);
    train_with(processes, name);
    const std::vector<double> found = losses(name);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5) << i;
  }
}

TEST_F(SplitTraining, ResumesToTheBitAlsoWithSampledClasses) {
  // By turns losses that keep something of their own: a moving average, a threshold with momentum.
  recipe_.training.epochs = 2;  // eight steps
  for (const auto& [loss, rate] :
       std::vector<std::pair<std::string, double>>{{"cosface", 1},
                                                   {"subcenter_arcface", 0.5},
                                                   {"curricularface", 1},
                                                   {"uniface", 0.5},
                                                   {"center", 0.5}}) {
    SCOPED_TRACE(loss);
    recipe_.loss = loss;
    if (loss == "center") recipe_.loss_options = {{"weight", 0.1}};
    recipe_.training.sample_rate = rate;
    const std::string& name = loss;
    train_with(2, name);
    const std::string whole = bytes(name);
    EXPECT_EQ(list_checkpoints(checkpoints(name)).size(), 2u);
    go_back_to(name, 5);
    train_with(2, name, /*resume=*/true);
    EXPECT_EQ(bytes(name), whole);
  }
}

TEST_F(SplitTraining, AnotherNumberOfProcessesGoesOnFromTheSameWeights) {
  options_.keep = 4;
  train_with(2, "run");
  const std::vector<double> wanted = losses("run");
  const auto at_ten = state_of(checkpoint_path(checkpoints("run"), 10));
  EXPECT_EQ(at_ten.at("head.weight").size(0), 7);
  EXPECT_EQ(at_ten.at("momentum.head.weight").size(0), 7);
  for (const int processes : {1, 3}) {
    go_back_to("run", 10);
    train_with(processes, "run", /*resume=*/true);
    const std::vector<double> found = losses("run");
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5) << i;
    const Json run = Json::parse(read_file(folder_ / "run" / "run.json"));
    EXPECT_EQ(run.at("content").at("processes_by_step"), Json({{0, 2}, {10, processes}}));
  }
}

TEST_F(SplitTraining, SoDoLossesThatKeepMoreThanWeights) {
  recipe_.training.epochs = 2;
  for (const auto& [loss, kept, rows] : std::vector<std::tuple<std::string, std::string, int>>{
           {"curricularface", "head.t", 7},
           {"uniface", "momentum.head.bias", 7},
           {"subcenter_arcface", "momentum.head.weight", 21},
           {"center", "head.centers", 7}}) {
    SCOPED_TRACE(loss);
    recipe_.loss = loss;
    if (loss == "center") recipe_.loss_options = {{"weight", 0.1}};
    const auto last = [&] { return state_of(list_checkpoints(checkpoints(loss)).back()); };
    train_with(2, loss);
    const auto wanted = last();
    EXPECT_EQ(wanted.at("head.weight").size(0), rows);
    go_back_to(loss, 5);
    EXPECT_FALSE(last().at(kept).equal(wanted.at(kept)));  // what is read changes after it
    train_with(3, loss, /*resume=*/true);
    for (const auto& [name, tensor] : last())
      EXPECT_TRUE(at::allclose(tensor, wanted.at(name), 1e-5, 1e-5)) << name;
  }
}

TEST_F(SplitTraining, PartsAreReadIntoAnySplit) {
  // Ten rows of three, written by 3 processes, read by 4 and by 1.
  const at::Tensor all = at::arange(30, at::kFloat).view({10, 3});
  const fs::path folder = folder_ / "parts";
  fs::create_directories(folder);
  const auto part = [&](int rank, int size) {
    const std::int64_t first = 10 * rank / size, last = 10 * (rank + 1) / size;
    return std::vector<PartialTensor>{{{"w", all.slice(0, first, last).clone()}, first, 10},
                                      {{"shared", at::ones({2})}}};
  };
  Json parts = Json::array();
  for (int rank = 0; rank < 3; ++rank)
    parts.push_back(write_checkpoint_part(folder, 5, rank, 3, part(rank, 3)));
  EXPECT_EQ(parts[1].at("file"), "part-000000005-1-of-3.safetensors");
  for (const int size : {1, 4})
    for (int rank = 0; rank < size; ++rank) {
      const std::vector<PartialTensor> wanted = part(rank, size);
      std::vector<PartialTensor> found = wanted;
      for (PartialTensor& t : found) t.tensor = at::zeros_like(t.tensor);
      read_checkpoint_parts(folder, parts, found);
      EXPECT_TRUE(found[0].tensor.equal(wanted[0].tensor));
      EXPECT_TRUE(found[1].tensor.equal(at::zeros({2})));  // not split: the checkpoint's own
    }
  // A part that is not there, one of another step, and one that is damaged.
  std::vector<PartialTensor> found = part(0, 1);
  const auto refusal = [&](const Json& named) {
    try {
      read_checkpoint_parts(folder, named, found);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(parts), "");
  EXPECT_NE(refusal({parts[0], parts[2]}).find("all rows of w"), std::string::npos);
  Json other = parts;
  other[1]["sha256"] = other[0]["sha256"];
  EXPECT_NE(refusal(other).find("not the part"), std::string::npos);
  const fs::path file = folder / parts[1].at("file").get<std::string>();
  std::string bytes = read_file(file);
  bytes[bytes.size() - 3] ^= 1;
  write_file(file, bytes);
  EXPECT_NE(refusal(parts).find("damaged"), std::string::npos);
  fs::remove(file);
  EXPECT_NE(refusal(parts), "");
}

TEST_F(SplitTraining, OldPartsGoWithTheirCheckpoints) {
  train_with(3, "run");
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(checkpoints("run")))
    names.insert(entry.path().filename().string());
  std::set<std::string> wanted;
  for (const std::string step : {"000000015", "000000016"}) {
    wanted.insert("step-" + step + ".safetensors");
    for (int rank = 0; rank < 3; ++rank)
      wanted.insert("part-" + step + "-" + std::to_string(rank) + "-of-3.safetensors");
  }
  EXPECT_EQ(names, wanted);
}

TEST_F(SplitTraining, WithoutASplitAnotherNumberOfProcessesGoesOnToo) {
  recipe_.training.split_classes = false;
  train_with(2, "run");
  const std::vector<double> wanted = losses("run");
  go_back_to("run", 15);
  train_with(1, "run", /*resume=*/true);
  const std::vector<double> found = losses("run");
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(found[k], wanted[k], 1e-5);
  const Json manifest = Json::parse(read_file(folder_ / "run" / "run.json"));
  EXPECT_EQ(manifest.at("content").at("processes_by_step"), Json::parse("[[0, 2], [15, 1]]"));
}

TEST_F(SplitTraining, AProcessThatFailsEndsTheOthersAndLeavesTheLastCheckpoint) {
  TrainOptions options = options_;
  EXPECT_THROW(ThreadProcesses(2).run([&](Communicator& communicator) {
    TrainCallbacks callbacks;
    if (communicator.rank() == 1)
      callbacks.on_step = [](const StepReport& report) {
        if (report.iteration == 8) fail("rank 1", "fails");
      };
    train(recipe_, set_, folder_ / "run", options, {}, callbacks, communicator);
  }),
               std::exception);
  ASSERT_EQ(list_checkpoints(checkpoints("run")).size(), 1u);
  EXPECT_EQ(state_of(list_checkpoints(checkpoints("run")).front()).at("head.weight").size(0), 7);
  train_with(2, "run", /*resume=*/true);
  train_with(2, "whole");
  EXPECT_EQ(bytes("run"), bytes("whole"));
}

}  // namespace
}  // namespace facebench
