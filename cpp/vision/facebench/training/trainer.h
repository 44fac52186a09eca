#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/nn/communicator.h"
#include "facebench/nn/head.h"
#include "facebench/training/first_weights.h"
#include "facebench/training/head_memory.h"
#include "facebench/training/recipe.h"
#include "facebench/training/step_phase.h"
#include "facebench/training/trained_network.h"
#include "facebench/training/training_set.h"
#include "facebench/training/validation.h"

namespace facebench {

// How a training is run, apart from what is trained (Recipe). `threads` decides the last bits
// (torch sums gradients differently for another number), and so do `device` and `deterministic`:
// these are part of the content, and so is the training that `extend` names. The others decide
// nothing.
struct TrainOptions {
  bool resume = false;
  std::filesystem::path extend;
  int threads = 0;
  int data_threads = 1;
  std::optional<std::int64_t> checkpoint_every;
  int keep = 2;
  std::int64_t log_every = 20;
  std::string device = "cpu";
  bool deterministic = false;
  static void describe(OptionsBuilder<TrainOptions>& o);
};

// The report at the end of an epoch.
struct EpochReport {
  std::int64_t epoch = 0;      // epochs done
  std::int64_t epochs = 0;     // in all
  std::int64_t iteration = 0;  // steps done
  double loss = 0;             // mean over the epoch's images
  double accuracy = 0;         // share of them whose true class scored highest, margins left out
  double lr = 0;
  std::optional<ValidationValue> validation;  // where this epoch was validated
};

// The report of a step.
struct StepReport {
  std::int64_t iteration = 0;   // steps done
  std::int64_t iterations = 0;  // in all
  double loss = 0;              // mean over the batch, of all processes
  double accuracy = 0;          // as in EpochReport
  double lr = 0;
  double gradient_norm = 0;  // before clipping; 0 where clipping is off
};

// A loss or a network in place of the recipe's. The description is what the manifest says of it; a
// resume refuses another one. Of a network that comes with its weights it has "weights_sha256".
struct OwnLoss {
  Json description;
  std::function<std::unique_ptr<Head>(const HeadShape&)> make;
};
struct OwnNetwork {
  Json description;
  NetworkMaker make;
};

struct TrainCallbacks {
  std::optional<OwnNetwork> network;
  // What the network begins with; the loss's weights begin anew.
  std::optional<FirstWeights> first;
  std::optional<OwnLoss> loss;
  // Where classes are split, before the first step in rank 0: what the head takes in each process,
  // by rank.
  std::function<void(const std::vector<HeadMemory>&)> on_start;
  // Scores the model before the first step (so that wrong data are found at once) and at the ends
  // of epochs, always at the last one; its values go into the log. Not owned; may be null.
  const Validation* validation = nullptr;
  // After each epoch, with the model as it stands (evaluation mode, not to be changed). A value is
  // a score, higher is better, in place of the validation's. The model of the best score is kept as
  // `best.safetensors`. May throw to stop; the checkpoint of this moment is written first.
  std::function<std::optional<double>(const EpochReport&, const TrainedModel&)> on_epoch;
  // After each step. May throw to stop, as on_epoch may.
  std::function<void(const StepReport&)> on_step;
  // After each checkpoint, and when a training diverged, in rank 0: what the log says is complete.
  std::function<void()> on_checkpoint;
  // What is odd about the training, a sentence each, in rank 0: before the first step, and when it
  // is over where it shows that nothing was learned.
  std::function<void(const std::string&)> on_note;
  // To time the parts of a step. Must not throw.
  PhaseObserver on_phase;
};

struct TrainResult {
  std::filesystem::path model;  // model.safetensors
  std::int64_t iterations = 0;
  std::int64_t epochs = 0;
  std::int64_t classes = 0;
  std::int64_t images = 0;
  std::int64_t excluded = 0;  // images that a list left out
  double loss = 0;            // of the last epoch
  double accuracy = 0;        // of the last epoch, margins left out
  std::optional<double> best_score;
  std::int64_t best_epoch = 0;
  bool stopped_early = false;      // no better score for `patience` epochs
  std::vector<std::string> notes;  // what on_note was told; in rank 0
  double images_per_second = 0;    // of the steps made by this call
  // What it began with: of `first` its source and what was taken (TakenWeights::json), of `extend`
  // the training; null: the recipe's initial weights.
  Json begun_with;
};

// Trains `recipe` on `data` and fills the folder `out`:
//   model.safetensors  the network, self-describing (embedding/model.h), when training is complete;
//                      of a network of the caller's what its TrainedModel saves
//   best.safetensors   the same of the epoch with the best score, where there were scores
//   run.json           manifest: recipe, data, threads, library versions; and the result
//   log.jsonl          of the first 20 steps, then every log_every: iteration, epoch, loss,
//                      accuracy, lr, images/s, time left, memory of this process, and of that step
//                      what Observation has; each validation's values; what a list left out; where
//                      and how it diverged
//   checkpoints/       the last `keep`
// The same recipe, data and number of threads give the same bytes of model.safetensors, whatever
// the number of data threads and wherever the training was interrupted and resumed. Without
// `resume`, a folder that already holds a training is refused; with it, training continues from the
// newest checkpoint (from the start if there is none), and a complete training is not repeated.
//
// A training that cannot learn is refused before the first step with std::invalid_argument: batch
// norm that is left with one number a channel, triplet loss whose batches hold no triplet. What is
// odd without being that is told (on_note), and is in run.json ("notes"): values with which little
// is learned, options without effect, images of two people, weights that the first steps leave.
//
// Reports to job.progress and polls after each step; on Cancelled a checkpoint is written and
// Cancelled passed on. job.threads is not used: see TrainOptions. Throws Error for data and files,
// and where the training diverges: where the loss is no longer finite, or where weights are not
// when a checkpoint is due, which is then not written.
TrainResult train(const Recipe& recipe, const TrainingSet& data, const std::filesystem::path& out,
                  const TrainOptions& options = {}, const Job& job = {},
                  const TrainCallbacks& callbacks = {});
// One of several processes that train together, each on its share of every batch: rank 0 reads the
// checkpoint, validates, calls on_epoch and writes; its `out` is taken. Gradients are summed over
// all processes. Batch norm works on each process's share; the running statistics that are saved
// are those of rank 0. Where one process ends, the others throw Error in their next exchange.
//
// With split_classes each process writes its rows of a checkpoint, to which `out` must be the same
// folder in all of them; any number of processes can go on from it. What interrupts a step's end
// (Cancelled, a callback that throws) then writes no checkpoint: the last one stands.
TrainResult train(const Recipe& recipe, const TrainingSet& data, const std::filesystem::path& out,
                  const TrainOptions& options, const Job& job, const TrainCallbacks& callbacks,
                  Communicator& communicator);

}  // namespace facebench
