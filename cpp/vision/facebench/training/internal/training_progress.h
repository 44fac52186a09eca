#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "facebench/io/json.h"
#include "facebench/training/training_sums.h"

namespace facebench {

// Where a training stands, apart from its tensors; stored in checkpoints.
struct TrainingProgress {
  // One epoch that is over; `score` where it was validated.
  struct Epoch {
    std::int64_t iteration = 0;
    double loss = 0;
    double accuracy = 0;
    std::optional<double> score;
  };

  std::int64_t iteration = 0;  // steps done
  std::vector<Epoch> epochs;   // those that are over and reported
  TrainingSums epoch_sums;     // of the epoch that goes on
  TrainingSums log_sums;       // since the last line of the log
  std::optional<double> best;  // score
  std::int64_t best_epoch = 0;
  bool stopped = false;            // no better score for too long
  std::vector<std::string> notes;  // what the steps showed, a sentence each
  // From which step on how many processes trained together.
  std::vector<std::pair<std::int64_t, std::int64_t>> processes;

  std::int64_t reported() const { return static_cast<std::int64_t>(epochs.size()); }
  // Takes an epoch's score in; true where it is the best so far. Stops the training `patience`
  // epochs (0: never) after the last that was better by more than `min_delta`.
  bool judge(double score, std::int64_t epoch, std::int64_t patience, double min_delta);

  void goes_on_with(std::int64_t count);

  Json json() const;  // without iteration
  // Throws Json::exception.
  static TrainingProgress from_json(const Json& json, std::int64_t iteration);

 private:
  // The score and epoch that patience counts from.
  std::optional<double> mark_;
  std::int64_t mark_epoch_ = 0;
};

Json json_of(const TrainingProgress::Epoch& epoch);

}  // namespace facebench
