#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "facebench/nn/head.h"
#include "facebench/training/checkpoint.h"

namespace facebench {

// What a training ended with, for another that goes on from there with a schedule of its own.
class FinishedTraining {
 public:
  // Throws Error where the folder holds no training that is finished, with its last checkpoint.
  explicit FinishedTraining(const std::filesystem::path& folder);

  // What records say of it: {"training_run", "iterations", "checkpoint_sha256"}.
  const Json& record() const { return record_; }

  // Copies network, loss and, where the optimizer keeps the same, its momentum. Returns a sentence
  // on what begins anew, empty where nothing does. Throws Error where the training of this
  // `identity` has other data, people, network or loss.
  std::string load(const Json& identity, std::span<const PartialTensor> tensors) const;

 private:
  std::filesystem::path checkpoint_;
  TrainingState state_;
  Json record_;
};

}  // namespace facebench
