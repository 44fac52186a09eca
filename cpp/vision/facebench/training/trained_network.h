#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facebench/embedding/batch_model.h"
#include "facebench/embedding/input_view.h"
#include "facebench/embedding/model.h"
#include "facebench/training/freeze_patterns.h"
#include "facebench/training/optimizer.h"
#include "facebench/training/recipe.h"

namespace facebench {

// A network as it stands at one moment of a training, in evaluation mode: to be judged and stored.
class TrainedModel {
 public:
  virtual ~TrainedModel() = default;

  // For batches of `batch` images. It may refer to this object.
  virtual std::unique_ptr<BatchModel> batch_model(std::int64_t batch) const = 0;
  // Writes the whole file or nothing.
  virtual void save(const std::filesystem::path& path) const = 0;
  // The same where it is a network of this library, else null.
  virtual const Model* ours() const { return nullptr; }
};

// What differs from one pass through a network in training to the next.
struct TrainingPass {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;                // other masks of dropout for each
  std::optional<double> batch_norm_share;  // Network::set_batch_norm_share
};

// A network as the trainer sees it: of this library, or the caller's own.
class TrainedNetwork {
 public:
  // A value that a loss is put on.
  struct Output {
    std::string name;           // "embedding"; of auxiliary classifiers "aux1", ...
    std::int64_t features = 0;  // numbers for each image, or word
  };

  virtual ~TrainedNetwork() = default;

  // The first is the main one's.
  virtual const std::vector<Output>& outputs() const = 0;
  // Called at most once, before all others: what the patterns cover is among buffers(), and
  // computes as in evaluation. Throws std::invalid_argument where a pattern covers nothing.
  virtual void freeze(const FreezePatterns& patterns) = 0;
  // Moves all tensors. Called once, before what follows.
  virtual void to(at::Device device, at::ScalarType dtype, bool channels_last) = 0;
  virtual at::Device device() const = 0;

  // Leaf tensors that require gradients, and everything else that goes on from step to step.
  // Shared: an optimizer changes them in place.
  virtual std::vector<TrainedParameter> parameters() const = 0;
  virtual std::vector<NamedTensor> buffers() const = 0;

  // The outputs for images (N, C, H, W), (N, features) each or of another shape with as many
  // numbers, with gradients; for words (N, T) a row for each of them, (N * T, features).
  virtual std::vector<at::Tensor> forward(const at::Tensor& images, const TrainingPass& pass) = 0;

  // How its input is cut out of the images of the training.
  virtual InputView input_view() const = 0;
  // What model files will say: the hash of the run that trained it, and Model::training.
  virtual void set_training(const std::string& run_hash, const Json& record) = 0;
  // A copy on the CPU in float32, without auxiliary outputs; `instead`: values in place of those of
  // the parameters of these names.
  virtual std::unique_ptr<TrainedModel> snapshot(std::span<const NamedTensor> instead) const = 0;
  // The same where it is a network of this library, else null.
  virtual Network* ours() { return nullptr; }
};

// Makes the network of a training on images of that size. Draws nothing from torch's generator.
using NetworkMaker = std::function<std::unique_ptr<TrainedNetwork>(
    const Recipe& recipe, const ModelOptions& options, const ImageShape& images)>;

// A copy of a model, its weights as they are: a network to go on with, which may be none that a
// recipe can name (embedding/imported_model.h). The recipe says its input.
NetworkMaker network_of_model(const Model& model);

// The recipe's. Throws std::invalid_argument for images that it does not take. A network that reads
// words takes part in steps, but has no view of images and no snapshot: both throw the same.
std::unique_ptr<TrainedNetwork> make_recipe_network(const Recipe& recipe,
                                                    const ModelOptions& options,
                                                    const ImageShape& images);

}  // namespace facebench
