#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "facebench/nn/graph.h"
#include "facebench/nn/inference/kernels.h"
#include "facebench/nn/inference_precision.h"

namespace facebench {

// A graph made ready for the kernels of inference: which nodes are computed together, where each
// value lies in one block of memory that all layers share, weights in the order of reading.

// The place of a node or value in a vector.
inline std::size_t at_index(int i) { return static_cast<std::size_t>(i); }

// How many tiles of Winograd's method so many outputs are along an axis.
inline long tiles_of(long outputs, const WinogradAxis& axis) {
  return (outputs + axis.outputs - 1) / axis.outputs;
}

// Channels, height and width of a value; of a vector height and width are 1.
struct ValueShape {
  long channels = 0, height = 1, width = 1;
  bool operator==(const ValueShape&) const = default;
};

// Memory for one value, or for several that a concatenation joins: blocks of channels, with a
// border of zeros that convolutions read as their padding.
struct Home {
  long blocks = 0, height = 0, width = 0;
  long top = 0, left = 0, bottom = 0, right = 0;
  int first_step = 0, last_step = 0;  // that use it
  long offset = 0;                    // floats
  bool bordered() const { return top + left + bottom + right > 0; }
  long row(long lanes) const { return (left + width + right) * lanes; }
  long block(long lanes) const { return (top + height + bottom) * row(lanes); }
  long size(long lanes) const { return blocks * block(lanes); }
};

struct Place {
  int home = -1;
  long first_block = 0;
};

// Neighbouring blocks of output channels that one call of the kernel computes.
struct Slab {
  long first_block = 0;           // of the output
  long first_in_block = 0;        // of the input, with groups
  int blocks = 1;                 // of sums
  long weights = 0, vectors = 0;  // where its own begin
};

enum class StepKind : std::uint8_t {
  patches,
  conv,
  depthwise,
  linear,
  pool,
  pointwise,
  larger,
  multiply,
  sigmoid,
  shift
};

// One pass of a kernel over one value. Values are numbered as the graph's nodes, then those that
// only the plan has.
struct Step {
  StepKind kind = StepKind::pointwise;
  int node = 0;   // that it begins with
  int order = 0;  // the last node that it computes
  int in = -1, residual = -1, out = -1, affine = -1;
  Size2 kernel = 1, stride = 1, dilation = 1;
  Padding padding = 0;
  long groups = 1;
  bool larger_of_two = false, residual_first = true;
  Activation activation = Activation::none, affine_activation = Activation::none;
  double factor = 1;                                           // of the sums
  InferencePrecision precision = InferencePrecision::float32;  // of what is multiplied
  // Undefined where there are none; vectors are filled up with zeros to whole blocks. Weights of
  // convolutions and linear layers are words (kernels.h) in integers.
  ByteScale bytes;  // of int8's inputs
  at::Tensor begin, sum_scale;
  at::Tensor weights, bias, slope, scale, shift, affine_slope;
  std::vector<Slab> slabs;
  int in_blocks = 0, last_words = 0;  // that a slab reads
  int winograd = -1;                  // the form (kernels.h): the weights are (parts, ...)
  bool flat = false;                  // 1x1 on values without borders: rows do not matter
  int result() const { return out >= 0 ? out : affine; }  // that its sizes are those of
  // Pools: for each output row and column what its window covers (kernels.h).
  std::vector<int> rows_from, rows_to, columns_from, columns_to;
  std::vector<float> row_divisor, column_divisor;
};

struct Plan {
  const InferenceKernels* kernels = nullptr;
  std::vector<ValueShape> values;
  std::vector<Place> places;  // by value
  std::vector<Home> homes;
  std::vector<Step> steps;
  int result = -1;
  Shape result_shape;
  long arena = 0;  // floats of one image
  long lanes() const { return kernels->lanes; }
  const ConvKernel& conv_kernel(const Step& step) const {
    return *kernels->conv[static_cast<int>(step.precision)];
  }
  // From here on a step's weights are more than its values: it runs for many images in turn.
  std::size_t shared_from = 0;
};

// `layers` holds each node's tensors (float32, on the CPU) as Network has them. Nothing where the
// graph has an operation that the kernels do not cover. `precision` is that of convolutions and
// linear layers; convolutions of each channel on its own stay float32, and with int8 what reads the
// images and linear layers are bfloat16. `ranges`, for int8, are of the graph's layers; throws
// std::invalid_argument where one is missing.
std::optional<Plan> make_plan(const Graph& graph, std::span<const std::vector<at::Tensor>> layers,
                              int result, const InferenceKernels& kernels,
                              InferencePrecision precision, const InputRanges& ranges);

// The parts of make_plan. Chooses the steps; false where an operation is not covered.
bool plan_steps(const Graph& graph, std::span<const std::vector<at::Tensor>> layers, int result,
                Plan& plan);
// The form of Winograd's method that a convolution is computed by; -1: directly.
int choose_winograd(const Graph& graph, const Plan& plan, const Step& step);
// Memory for the weights of convolutions and linear layers, in the order of the steps. A block for
// many may have large pages, whose places in memory a processor has at hand. With small ones it
// waits for them where an image's weights come from memory (a Xeon: a tenth to a fifth of the
// time).
class WeightMemory {
 public:
  // So many words, from a line of the caches on. They keep their block.
  at::Tensor take(std::int64_t words);

 private:
  at::Tensor block_;
  std::int64_t used_ = 0;
};
// Brings a step's weights and vectors into the order that the kernels read.
void pack_step(std::span<const std::vector<at::Tensor>> layers, const Plan& plan,
               WeightMemory& memory, Step& step);
// Chooses where the values lie. May add steps that copy.
void plan_memory(const Graph& graph, Plan& plan);

}  // namespace facebench
