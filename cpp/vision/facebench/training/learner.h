#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "facebench/datasets/image_source.h"
#include "facebench/nn/communicator.h"
#include "facebench/nn/head.h"
#include "facebench/nn/memory_reuse.h"
#include "facebench/training/batch_loader.h"
#include "facebench/training/first_weights.h"
#include "facebench/training/observation.h"
#include "facebench/training/optimizer.h"
#include "facebench/training/recipe.h"
#include "facebench/training/step_phase.h"
#include "facebench/training/trained_network.h"
#include "facebench/training/training_sums.h"

namespace facebench {

class HeadBuffers;
class ObservedImages;
class WeightAverage;

// What a training changes (network, heads, momentum, average of the weights), and how one step
// changes it. Everything that is kept between steps is in state(); the number of the step is an
// argument.
class Learner {
 public:
  // Make the caller's own network and loss; empty: the recipe's. `first` (may be null): the weights
  // that the network begins with.
  struct OwnMakers {
    NetworkMaker network;
    std::function<std::unique_ptr<Head>(const HeadShape&)> head;
    const FirstWeights* first;
  };

  // `recipe` and `communicator` must outlive it; `options` is what the model files will say. Throws
  // std::invalid_argument for images that the network does not take, or a correction without decay.
  Learner(const Recipe& recipe, const ModelOptions& options, const ImageShape& shape,
          std::int64_t classes, at::Device device, Communicator& communicator,
          const OwnMakers& makers = {});
  ~Learner();
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  struct Step {
    TrainingSums sums;         // over the images of all processes
    bool finite = true;        // otherwise nothing was changed
    double gradient_norm = 0;  // before clipping; 0 where clipping is off
    std::optional<Observation> observed;
  };
  // One step of gradient descent. `batch` is this process's share of a batch of `images` images; of
  // words, each with its label, `images` is how many words there are.
  // `observe`: also what people watch, which changes nothing else. `on_phase` (may be empty) is
  // told of each phase from `forward` on; `data` begins before, where the batch is waited for.
  // Collective.
  Step step(const Batch& batch, std::int64_t images, std::int64_t iteration, double lr,
            bool observe = false, const PhaseObserver& on_phase = {});

  // Whether a step changes the head's class weights in the backward pass, without storing their
  // gradient (Optimizer::backward): the gradient is this process's alone, of one micro-batch, and
  // not clipped.
  bool updates_in_backward() const;

  // Of the weights as they are, and of the last step's gradients that are stored.
  NonFinite non_finite() const;

  // Every tensor that goes on from step to step. Shared.
  std::vector<PartialTensor> state() const;
  // What the optimizer changes: "network.*", "head.*", and of auxiliary heads "aux1.*", ... Shared.
  const std::vector<PartialTensor>& parameters() const { return parameters_; }
  const Head& head() const { return *head_; }
  TrainedNetwork& network() { return *network_; }
  // What became of the weights that it began with, where there were some.
  const std::optional<TakenWeights>& taken() const { return taken_; }

  // The model as it stands (the average of its weights where there is one): a copy on the CPU, in
  // float32 and evaluation mode, without auxiliary heads.
  std::unique_ptr<TrainedModel> snapshot() const;

 private:
  struct AuxiliaryHead {
    std::string output;
    std::unique_ptr<Head> head;
  };

  // The value to be minimised, its part in the batch's mean; what is reported of it: the loss of
  // the main head without the auxiliary ones, and how many were right; and the shares of `images`,
  // the whole batch, that this process's images and those of the main head's loss are.
  struct Objective {
    at::Tensor value, loss, correct;
    double own_share = 1, whole_share = 1;
  };
  // `observed` may be null.
  Objective forward(const at::Tensor& pixels, const at::Tensor& labels, BatchPlace place,
                    const TrainingPass& pass, std::int64_t images, ObservedImages* observed);
  void add_head(Head& head, const std::string& prefix);

  MemoryReuse reuse_;  // steps take the same memory again
  const Recipe& recipe_;
  Communicator& communicator_;
  std::unique_ptr<TrainedNetwork> network_;
  bool foreign_ = false;  // network or loss are not this library's
  std::optional<TakenWeights> taken_;
  std::unique_ptr<Head> head_;
  std::vector<AuxiliaryHead> auxiliary_;
  double auxiliary_weight_ = 0;
  std::vector<PartialTensor> parameters_;
  std::unique_ptr<HeadBuffers> buffers_;
  std::optional<Optimizer> optimizer_;
  std::unique_ptr<WeightAverage> average_;  // null: there is none
};

}  // namespace facebench
