#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/io/json.h"
#include "facebench/nn/communicator.h"
#include "facebench/nn/network.h"
#include "facebench/nn/normalize_rows.h"

namespace facebench {

class ClassSplit;
struct RowUpdateSlot;

// What a head is made for.
struct HeadShape {
  std::int64_t features = 0;  // D, length of an embedding
  std::int64_t classes = 0;   // C
  std::uint64_t seed = 0;     // of the initial weights
  at::ScalarType dtype = at::kFloat;

  // Those that train together, each with its share of every batch; null: this process alone. Must
  // outlive the head.
  Communicator* processes = nullptr;
  // Each process holds the parameters of its own classes alone: rank r of P those from r C / P on.
  // The values and gradients are those of one head with all classes, to rounding; a parameter
  // without a row for each class is in every process, with that process's part of its gradient.
  bool split_classes = false;
  // The share of a process's classes that a step computes with, in (0, 1]: those of the batch's
  // images, and others drawn by (seed, step, first class). Below 1 it needs split_classes, and
  // gradients of class parameters are sparse. Source: An et al., "Partial FC", ICCV workshops 2021.
  double sample_rate = 1;
};

// Where images stand in the batch of a step, which processes and micro-batches share: image i of
// the input is image first + i stride of it. What a loss draws for an image depends on that place,
// so it is the same however the batch is shared.
struct BatchPlace {
  std::int64_t first = 0, stride = 1;
};

// The batch that a loss is computed on. What is derived from the features is computed when it is
// first asked for.
class HeadInput {
 public:
  // features (N, D) floating point, labels (N) int64.
  HeadInput(const at::Tensor& features, const at::Tensor& labels, BatchPlace place = {});
  // `type`: that of the features before they were gathered from several processes.
  HeadInput(const at::Tensor& features, const at::Tensor& labels, BatchPlace place,
            at::ScalarType type);

  const at::Tensor& labels() const { return labels_; }
  BatchPlace place() const { return place_; }
  // The features as they came in, e.g. in bfloat16 in mixed precision; gathered ones in float32,
  // and their own type apart.
  const at::Tensor& given() const { return given_; }
  at::ScalarType type() const { return type_; }
  // (N, D) in the type that margins and sums are computed in: float32, or float64 where the
  // features are.
  const at::Tensor& features() const { return features_; }
  // (N, 1) Euclidean norms of the features, at least 1e-6. Differentiable.
  const at::Tensor& norms();

 private:
  at::Tensor given_, features_, labels_, norms_;
  BatchPlace place_;
  at::ScalarType type_;
};

// A tensor, or of one that is split over processes the rows of this one: those from `first` on, of
// `total` (0: it is not split).
struct PartialTensor : NamedTensor {
  std::int64_t first = 0, total = 0;
  bool split() const { return total > 0; }
};

// How a buffer that moves in each step is put together where the step's batch is shared by several
// processes, or taken in several micro-batches.
enum class BufferReduction : std::uint8_t {
  sum,        // what each moved it by adds up (class centres: each moves those of its images)
  mean,       // each starts from the same value; the mean of theirs, weighted by their images
              // (a moving average of the batch's statistics)
  broadcast,  // one value for all, that of rank 0 (the number of steps)
};

struct HeadBuffer : PartialTensor {
  BufferReduction reduction = BufferReduction::mean;
};

// A loss with the parameters it needs: the last layer of a network in training, which is not part
// of the model.
//
// In training mode (the default) each call of loss() is one iteration: it updates what the method
// keeps between iterations (centres, the iteration that lambda depends on). In evaluation mode
// nothing changes. Everything kept is a buffer, so parameters() and buffers() are the whole state.
class Head {
 public:
  struct Output {
    at::Tensor loss;       // scalar, mean over the batch
    at::Tensor logits;     // (N, C), without gradient and without margin, to measure accuracy with
    at::Tensor predicted;  // (N) int64, the class with the highest of them
    std::int64_t images = 0;  // that the loss is the mean over: N, or those of all processes

    // While observe() is on; without gradient, undefined where the loss has no such thing. (N):
    at::Tensor cosine;   // of the features and their class's weights (the nearest of its centres)
    at::Tensor target;   // the true class's logit with its margin
    at::Tensor highest;  // the highest of the other classes' logits
  };
  // What every head is made with: the loss's name, its options (all of them), and the shape.
  struct Description {
    std::string name;
    Json options;
    HeadShape shape;
  };

  virtual ~Head() = default;
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;

  // features (N, D) floating point, labels (N) int64 in [0, C), N >= 1. Throws
  // std::invalid_argument for other shapes and types, std::out_of_range for a label.
  //
  // In float32 on the CPU the classes are processed in tiles, and gradients are computed without
  // storing unit weights or probabilities (docs/training-speed.md); logits is then stored class by
  // class. Features in bfloat16 are multiplied with weights rounded to it, where the processor has
  // such products; sums, margins and the loss are float32.
  //
  // Where takes_whole_batch(), the call and its backward pass are collective: the loss is the mean
  // over the images of all processes (N may be 0 in some), the gradient of `features` is this
  // process's rows of it, and logits are (images of all, classes that this process computed with).
  Output loss(const at::Tensor& features, const at::Tensor& labels, BatchPlace place = {});

  // Leaf tensors that require gradient. They are shared, not copied: an optimizer changes them in
  // place.
  const std::vector<PartialTensor>& parameters() const { return parameters_; }
  const std::vector<HeadBuffer>& buffers() const { return buffers_; }
  // Replaces a buffer, e.g. after a move to another device. Throws std::invalid_argument for an
  // unknown name or another shape.
  void set_buffer(std::string_view name, const at::Tensor& value);

  // Whether the loss is that of the images of all processes in each of them: classes are split, or
  // the loss compares images with each other.
  bool takes_whole_batch() const { return batch_ != BatchUse::own; }
  // The class weight; undefined where the loss has none.
  at::Tensor class_weight() const;
  // Whether a backward pass can change it piece by piece (UpdateInBackward): the loss goes by tiles
  // of classes, and a step takes all of them.
  bool updates_in_backward() const;
  const std::shared_ptr<RowUpdateSlot>& row_update_slot() const { return slot_; }
  // The classes that the last step of a split head computed with here, (k) int64, ascending.
  at::Tensor sampled_classes() const;

  // Whether loss() also gives what people watch (Output). It changes no other number, and costs a
  // pass over the logits where they are not computed in tiles.
  void observe(bool on) { observed_ = on; }

  void train(bool on = true) { training_ = on; }
  bool training() const { return training_; }

  const std::string& name() const { return description_.name; }
  const Json& options() const { return description_.options; }
  const HeadShape& shape() const { return description_.shape; }

 protected:
  // Throws std::invalid_argument for a split that leaves a process without a class, or a
  // sample_rate without one.
  explicit Head(Description description);
  // `input` has been checked.
  virtual Output compute(HeadInput& input) = 0;

  // Initial values: "linear" U(+-1/sqrt(D)), "xavier" U(+-sqrt(6/(D+C))), "xavier_normal" N(0,
  // sqrt(2/(D+C))), "xavier_caffe" U(+-sqrt(3/D)), "normal" N(0, 0.01), "normal_0.1" N(0, 0.1),
  // "truncated_normal" N(0, 0.005) cut off at two deviations; Philox stream (seed, "head", name). A
  // parameter called "bias" starts at 0 with all but "linear".
  at::Tensor& add_parameter(const std::string& name, std::vector<std::int64_t> size,
                            const std::string& init);
  // The same with as many rows for each class, those of class j after those of class j - 1. In a
  // split head this process's rows alone are made; they have the values that they have in a whole
  // one.
  at::Tensor& add_class_parameter(const std::string& name, std::vector<std::int64_t> size,
                                  const std::string& init);
  at::Tensor& add_buffer(const std::string& name, const at::Tensor& value,
                         BufferReduction reduction);
  // Zeros, a row of `width` for each class; in a split head this process's rows alone, which it
  // moves by the images of all.
  at::Tensor& add_class_buffer(const std::string& name, std::int64_t width,
                               BufferReduction reduction);
  at::Tensor& parameter(std::size_t i) { return parameters_[i].tensor; }
  at::Tensor& buffer(std::size_t i) { return buffers_[first_buffer_ + i].tensor; }  // of the loss

  // In the constructor of a loss that compares images with each other.
  void take_whole_batch();
  // In the constructor of a loss that is not computed in tiles of classes, as it changes more than
  // the true class's logit. Its classes cannot be split.
  void take_all_logits();
  // In the constructor of a loss whose classes cannot be split. Throws std::invalid_argument where
  // they are to be; `why` ends the message.
  void refuse_split(std::string_view why) const;
  // Of a split head: the classes of this step. Draws them in training where sample_rate is below 1.
  ClassSplit split(const at::Tensor& labels);
  // All classes that this process holds; of a head that is not split, every class.
  ClassSplit held_classes(const at::Tensor& labels) const;

 private:
  enum class BatchUse : std::uint8_t { own, compared, split };
  struct ClassRange {
    std::int64_t first = 0, count = 0;
  };

  void check(const at::Tensor& features, const at::Tensor& labels) const;
  // Those that a split head's classes are over; this one alone where there are no others.
  Communicator& processes() const;
  ClassRange own_classes() const;
  at::Tensor draw_classes(const at::Tensor& labels, std::uint64_t step) const;
  at::Tensor draw(const std::string& name, const std::vector<std::int64_t>& size,
                  const std::string& init, ClassRange rows) const;
  void add_observed(const HeadInput& input, Output& output) const;
  at::Tensor target_cosines(const HeadInput& input) const;

  Description description_;
  BatchUse batch_ = BatchUse::own;
  at::Tensor sampled_;  // rows of the last step; undefined: all
  std::vector<PartialTensor> parameters_;
  std::vector<HeadBuffer> buffers_;
  std::size_t first_buffer_ = 0;  // after those of the head itself
  std::shared_ptr<RowUpdateSlot> slot_;
  bool in_tiles_ = true;
  std::size_t class_weight_ = 0;  // in parameters_
  std::int64_t centers_ = 0;      // rows of it for each class; 0: there is none
  bool training_ = true, observed_ = false;
};

}  // namespace facebench
