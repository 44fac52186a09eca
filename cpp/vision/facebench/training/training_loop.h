#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "facebench/io/json.h"
#include "facebench/training/batch_loader.h"
#include "facebench/training/learner.h"
#include "facebench/training/recipe.h"
#include "facebench/training/training_set.h"

namespace facebench {

class DecodableImages;
struct PlannedTraining;

// What model files of a training say of their input and its crops.
ModelOptions trained_model_options(const Recipe& recipe, const TrainingSet& data);

std::unique_ptr<Sampler> make_sampler(const TrainingOptions& training,
                                      const TrainingClasses& classes);

// What train() goes through, for steps that another framework makes: the first weights, the batches
// in order, the rate of each step, and the model file of the weights that it ends with.
class TrainingLoop {
 public:
  // Keeps `data`. Throws as train() does.
  TrainingLoop(Recipe recipe, OpenedTrainingSet data);
  ~TrainingLoop();

  std::int64_t iterations() const { return iterations_; }
  double iterations_per_epoch() const { return sampler_->iterations_per_epoch(); }
  std::int64_t classes() const { return classes_.count; }
  std::int64_t images() const { return static_cast<std::int64_t>(classes_.samples.size()); }
  const Recipe& recipe() const { return recipe_; }
  // What is odd about the training, a sentence each (TrainCallbacks::on_note).
  const std::vector<std::string>& notes() const { return notes_; }
  // The same when it is over, from the losses of its steps: signs that nothing was learned.
  std::vector<std::string> signs(const std::vector<double>& losses) const;

  // The next batch, its images (N, C, H, W) in rows; std::out_of_range past the end.
  Batch next() { return loader_->next(); }
  double learning_rate(std::int64_t iteration) const;

  // "network.*" with the statistics of batch norm, and "head.*": the recipe's first values. Shared:
  // what is written into them is saved.
  std::vector<NamedTensor> tensors() const;
  // Of those that are learned.
  std::map<std::string, ParameterRule> rules() const;
  // `trained_by`: what the model file says of who trained: {"engine", "device", "own", versions};
  // null: nothing.
  void save(const std::filesystem::path& model, const Json& trained_by = nullptr) const;

 private:
  PlannedTraining plan() const;

  Recipe recipe_;
  OpenedTrainingSet data_;
  SingleProcess alone_;
  std::unique_ptr<const DecodableImages> decodable_;
  TrainingClasses classes_;
  std::unique_ptr<Sampler> sampler_;
  mutable Learner learner_;
  std::int64_t iterations_;
  std::vector<std::string> notes_;
  std::unique_ptr<BatchLoader> loader_;
};

}  // namespace facebench
