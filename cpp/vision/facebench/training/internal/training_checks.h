#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facebench/nn/head.h"
#include "facebench/training/recipe.h"
#include "facebench/training/sampler.h"
#include "facebench/training/trained_network.h"
#include "facebench/training/training_set.h"

namespace facebench {

// What is known of a training before its first step.
struct PlannedTraining {
  const Recipe& recipe;
  const TrainingClasses& classes;
  const Sampler& sampler;
  std::int64_t iterations = 0;
  int processes = 1;
  TrainedNetwork& network;
  const Head& head;
  bool own_loss = false;  // in place of the recipe's
};

// Whether a network of this library has any; of the caller's own that is not known.
bool has_batch_norm(TrainedNetwork& network);

// Throws std::invalid_argument where no step can learn: a batch that cannot be shared, batch norm
// over one number (as PyTorch does), a triplet loss whose batches hold no triplet. What is odd
// without being that comes back, a sentence each: odd_values(), void_options(), people with one
// image or whose images repeat in a batch.
std::vector<std::string> check_plan(const PlannedTraining& plan);

// What the log of a training that is over says.
struct TrainingCourse {
  std::optional<double> first_loss;     // of the first line
  double last_loss = 0;                 // of the last epoch, or the last line of a single one
  std::optional<double> last_accuracy;  // the same; nothing where it is not measured
  std::int64_t last_images = 0;         // that these are means over
  std::optional<double> gradient_norm;  // of the last step
  bool ever_a_loss = true;              // a line with a loss other than 0
  // The greatest distance of two embeddings in the last step's batch, relative to their lengths;
  // nothing where it is not known.
  std::optional<double> feature_spread;
};

// What the first steps of a training show: a sentence where its weights stay where they are, else
// empty. `moved`: WeightSample::moved after `steps`, the last of them at `rate`.
std::string sign_of_stillness(const PlannedTraining& plan, double moved, std::int64_t steps,
                              double rate);

// A sentence for each sign that nothing was learned: one embedding for all images, a loss or a
// gradient of exactly 0, a loss that did not fall while the accuracy is that of guessing.
std::vector<std::string> signs_of_no_learning(const PlannedTraining& plan,
                                              const TrainingCourse& course);

}  // namespace facebench
