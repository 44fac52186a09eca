#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/losses.h"
#include "facebench/training/checkpoint.h"
#include "facebench/training/recipe.h"
#include "facebench/training/trainer.h"
#include "io/helpers.h"
#include "training/helpers.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// Stops at the n-th look.
Job stopping_job(int* looks, int at) {
  Job job;
  job.poll = [looks, at] {
    if (++*looks == at) throw Cancelled();
  };
  return job;
}

class Training : public ::testing::Test {
 protected:
  void SetUp() override {
    set_.images = &pictures_;
    set_.labels = pictures_.labels;
    options_.threads = 1;
  }

  std::string model_bytes(const std::string& name) {
    return read_file(folder_ / name / "model.safetensors");
  }

  // A training that is stopped at the n-th look and then resumed gives the whole one's weights.
  void expect_resumed_to_the_bit(const Recipe& recipe, const std::string& name, int stop_at) {
    const std::string whole = name + "_whole", parts = name + "_parts";
    train(recipe, set_, folder_ / whole, options_);
    int looks = 0;
    EXPECT_THROW(train(recipe, set_, folder_ / parts, options_, stopping_job(&looks, stop_at)),
                 Cancelled);
    TrainOptions again = options_;
    again.resume = true;
    train(recipe, set_, folder_ / parts, again);
    EXPECT_EQ(model_bytes(whole), model_bytes(parts)) << name;
  }

  TemporaryFolder folder_;
  Pictures pictures_{30, 4, {16, 16}};
  TrainingSet set_;
  Recipe recipe_ = parse_recipe(tiny_recipe, "tiny.toml");
  TrainOptions options_;
};

TEST_F(Training, LearnsAndDescribesItself) {
  recipe_.training.epochs = 12;
  std::vector<EpochReport> reports;
  TrainCallbacks callbacks;
  callbacks.on_epoch = [&](const EpochReport& report,
                           const TrainedModel& model) -> std::optional<double> {
    EXPECT_FALSE(model.ours()->weights.training());
    reports.push_back(report);
    return report.epoch == 5 ? 1.0 : 0.5;
  };
  set_.preparation = {{"detector", "mtcnn"}, {"crop", "arcface112"}};
  const TrainResult result = train(recipe_, set_, folder_ / "a", options_, {}, callbacks);
  ASSERT_EQ(reports.size(), 12u);
  EXPECT_EQ(reports.back().epoch, 12);
  EXPECT_EQ(result.classes, 4);
  EXPECT_GT(result.accuracy, 0.7);
  EXPECT_LT(result.loss, reports.front().loss);
  EXPECT_EQ(*result.best_score, 1.0);
  const Model model = load_model(result.model);
  EXPECT_EQ(model.options.crop, "arcface112");
  EXPECT_EQ(model.options.flip, "sum");
  EXPECT_EQ(model.network_options.height, 16);
  EXPECT_TRUE(fs::exists(folder_ / "a" / "best.safetensors"));
  EXPECT_TRUE(fs::exists(folder_ / "a" / "run.json"));
  EXPECT_EQ(list_checkpoints(folder_ / "a" / "checkpoints").size(), 2u);
  EXPECT_THROW(train(recipe_, set_, folder_ / "a", options_), Error);
}

TEST_F(Training, ResumesToTheBitWhereverItStoppedAndWithOtherDataThreads) {
  options_.checkpoint_every = 4;
  train(recipe_, set_, folder_ / "whole", options_);
  const std::string whole = model_bytes("whole");
  for (const int stop_at : {1, 2, 5, 9, 13}) {
    const std::string name = "stop" + std::to_string(stop_at);
    int looks = 0;
    EXPECT_THROW(train(recipe_, set_, folder_ / name, options_, stopping_job(&looks, stop_at)),
                 Cancelled);
    EXPECT_FALSE(fs::exists(folder_ / name / "model.safetensors"));
    TrainOptions again = options_;
    again.resume = true;
    again.threads = 0;  // taken from the checkpoint
    again.data_threads = stop_at % 3;
    // A second stop on the way.
    looks = 0;
    try {
      train(recipe_, set_, folder_ / name, again, stopping_job(&looks, 3));
    } catch (const Cancelled&) {
    }
    train(recipe_, set_, folder_ / name, again);
    EXPECT_EQ(model_bytes(name), whole) << stop_at;
    // The log has each step's line once.
    EXPECT_EQ(read_file(folder_ / name / "log.jsonl").find("\"iteration\":12"),
              read_file(folder_ / name / "log.jsonl").rfind("\"iteration\":12"));
  }
}

TEST_F(Training, EveryLossResumesToTheBit) {
  recipe_.training.epochs = 1;
  for (const std::string& loss : losses().names()) {
    recipe_.loss = loss;
    expect_resumed_to_the_bit(recipe_, loss, 3);
  }
}

TEST_F(Training, ForeignAndDamagedCheckpointsAreRefused) {
  train(recipe_, set_, folder_ / "a", options_);
  TrainOptions again = options_;
  again.resume = true;
  auto refusal = [&](const Recipe& recipe, const TrainingSet& set, const TrainOptions& options) {
    try {
      train(recipe, set, folder_ / "a", options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Recipe other = recipe_;
  other.optimizer.lr = 0.01;
  EXPECT_NE(refusal(other, set_, again).find("/recipe/optimizer/lr"), std::string::npos);
  TrainingSet relabelled = set_;
  relabelled.labels[0] = 30;
  EXPECT_NE(refusal(recipe_, relabelled, again).find("/data"), std::string::npos);
  TrainOptions threads = again;
  threads.threads = 2;
  EXPECT_NE(refusal(recipe_, set_, threads).find("/threads"), std::string::npos);

  const fs::path newest = list_checkpoints(folder_ / "a" / "checkpoints").back();
  const std::string good = read_file(newest);
  std::string bad = good;
  bad[bad.size() - 5] ^= 1;
  write_file(newest, bad);
  EXPECT_NE(refusal(recipe_, set_, again).find("damaged"), std::string::npos);
  write_file(newest, good.substr(0, good.size() / 2));
  EXPECT_NE(refusal(recipe_, set_, again), "");
  fs::copy_file(folder_ / "a" / "model.safetensors", newest, fs::copy_options::overwrite_existing);
  EXPECT_NE(refusal(recipe_, set_, again).find("not a checkpoint"), std::string::npos);
  write_file(newest, good);
  EXPECT_EQ(refusal(recipe_, set_, again), "");
}

TEST_F(Training, PhasesComeInTheirOrderOnceForEachMicroBatch) {
  recipe_.training.iterations = 2;
  recipe_.training.accumulate = 2;
  std::string seen;
  TrainCallbacks callbacks;
  callbacks.on_phase = [&](StepPhase phase) {
    seen += "dfbaux"[static_cast<std::size_t>(phase)];  // data, forward, backward, aggregate, ...
  };
  train(recipe_, set_, folder_ / "a", options_, {}, callbacks);
  EXPECT_EQ(seen,
            "dfbfbux"
            "dfbfbux");  // nothing to aggregate in one process
}

TEST_F(Training, EveryOptionOfAStepResumesToTheBit) {
  recipe_.training.epochs = 3;
  for (const char* change : {"sampler=balanced", "ema=0.9", "dtype=bfloat16", "accumulate=2"}) {
    Recipe recipe = recipe_;
    const std::string text = change;
    set_recipe(recipe, text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
    expect_resumed_to_the_bit(recipe, text, 6);
  }
}

TEST_F(Training, WhatAKillLeavesBehindGoes) {
  fs::create_directories(folder_ / "a" / "checkpoints");
  std::ofstream(folder_ / "a" / "checkpoints" /
                ".step-000000004.safetensors.facebench.tmp-0123456789abcde0")
      << "half";
  std::ofstream(folder_ / "a" / ".model.safetensors.facebench.tmp-0123456789abcdef") << "half";
  options_.resume = true;
  train(recipe_, set_, folder_ / "a", options_);
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "a"))
    EXPECT_EQ(entry.path().filename().string().find(".tmp-"), std::string::npos) << entry.path();
}

TEST_F(Training, FailedImagesAndUnlabelledOnesAreLeftOut) {
  pictures_.failed = 3;
  set_.labels[5] = -1;
  const TrainingClasses classes = training_classes(set_);
  EXPECT_EQ(classes.samples.size(), 28u);
  EXPECT_EQ(classes.count, 4);
  EXPECT_EQ(classes.labels[3], -1);
  EXPECT_EQ(classes.labels[2], 2);  // persons 0, 10, 20, 30
  set_.labels.assign(30, 7);
  EXPECT_THROW(training_classes(set_), Error);
}

TEST_F(Training, ALossThatIsNotFiniteIsAnError) {
  recipe_.optimizer.lr = 1e3;
  recipe_.loss = "center";
  recipe_.loss_options = {{"weight", 1e6}};
  recipe_.optimizer.weight_decay = 1e3;
  EXPECT_THROW(train(recipe_, set_, folder_ / "a", options_), Error);
}

}  // namespace
}  // namespace facebench
