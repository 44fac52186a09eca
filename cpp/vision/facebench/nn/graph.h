#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace facebench {

// A network as data: a graph of typed nodes built by a function of about a page. The torch executor
// runs it (nn/network.h); counts, summaries, folded batch norm, exporters and other engines read
// the same graph. No torch here.
//
//   Graph g;
//   auto x = g.input(3, 112, 112);
//   x = g.conv("conv1", x, {.out = 64, .kernel = 3, .stride = 2, .padding = 1});
//   x = g.prelu("prelu1", g.batch_norm("bn1", x));
//   g.tap("embedding", g.linear("fc", g.flatten(x), {.out = 128}));
//
// Every building call infers the shape of its result and throws std::invalid_argument, naming the
// layer and the shape it was given, where the layer does not fit.

// Height and width; one number stands for both.
struct Size2 {
  std::int64_t height, width;
  constexpr Size2(std::int64_t both) : height(both), width(both) {}
  constexpr Size2(std::int64_t h, std::int64_t w) : height(h), width(w) {}
  bool operator==(const Size2&) const = default;
};

// Pixels added at each side; one number stands for all four, two for height and width. The sides
// differ only where an engine pads that way (TensorFlow's "SAME" with stride 2).
struct Padding {
  std::int64_t top, left, bottom, right;
  constexpr Padding(std::int64_t all) : top(all), left(all), bottom(all), right(all) {}
  constexpr Padding(std::int64_t h, std::int64_t w) : top(h), left(w), bottom(h), right(w) {}
  constexpr Padding(std::int64_t t, std::int64_t l, std::int64_t b, std::int64_t r)
      : top(t), left(l), bottom(b), right(r) {}
  bool symmetric() const { return top == bottom && left == right; }
  bool operator==(const Padding&) const = default;
};

// The shape of one image's value, without the batch: {C, H, W} of an image, {T, D} of a sequence (T
// tokens of D numbers), {C} of a vector, {T} of T words.
using Shape = std::vector<std::int64_t>;
std::string shape_text(const Shape& shape);  // "3x112x112"
std::int64_t element_count(const Shape& shape);

// Cross-correlation. weight (out, in / groups, kernel), bias (out).
struct ConvOptions {
  std::int64_t out = 0;
  Size2 kernel = 1;
  Size2 stride = 1;
  Padding padding = 0;
  Size2 dilation = 1;
  std::int64_t groups = 1;
  bool bias = false;
};
// y = W x + b, of a sequence token by token. weight (out, in), bias (out).
struct LinearOptions {
  std::int64_t out = 0;
  bool bias = true;
};
// Per channel; `momentum` is the share of the new batch in the running statistics (torch's sense).
// scale and shift say which of the two learned vectors there are.
struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;
  bool scale = true;
  bool shift = true;
};
// max(0, x) + slope * min(0, x); one slope for each channel, or one in all.
struct PreluOptions {
  bool shared = false;
};
// Max or average. ceil_mode: a window may start inside the image (or its left padding) and run over
// the end, as in Caffe. count_include_pad (average): padding counts as zeros in the mean, and may
// then be of any size; else it is half a kernel at most.
struct PoolOptions {
  Size2 kernel = 2;
  Size2 stride = 2;
  Padding padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;
};
// Average over a grid of `out` cells that covers the image (torch's AdaptiveAvgPool2d).
struct AdaptivePoolOptions {
  Size2 out = 1;
};
// x / (k + alpha / size * sum of x^2 over `size` neighbouring channels)^beta.
// Source: Krizhevsky et al. 2012, section 3.3, with Caffe's alpha / size.
struct LrnOptions {
  std::int64_t size = 5;
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1;
};
// Each token by itself: (x - mean) / sqrt(variance + eps) * weight + bias.
// Source: Ba et al., "Layer normalization", 2016, eq. 4.
struct LayerNormOptions {
  double eps = 1e-5;
};
// The width of a token is shared by the heads alike.
struct AttentionOptions {
  std::int64_t heads = 1;
};
// In training each value (drop_path: the value of a whole image) is zero with probability p, the
// others are divided by 1 - p.
struct DropoutOptions {
  double p = 0.5;
};
struct ScaleOptions {
  double factor = 1;
};
// Word numbers from 0 to vocabulary - 1.
struct WordsOptions {
  std::int64_t vocabulary = 0;
};
// Numbers of a word's vector. weight (vocabulary, width).
struct LookupOptions {
  std::int64_t width = 0;
};
// Cells. weight_ih_l0 (4 out, in), weight_hh_l0 (4 out, out), bias_ih_l0 (4 out): as torch names
// and orders them (input, forget, cell and output gate), with one bias, where torch has two that
// are added.
struct LstmOptions {
  std::int64_t out = 0;
};
struct NoOptions {};

enum class Op : std::uint8_t {
  input,
  conv,
  linear,
  batch_norm,
  prelu,
  relu,
  relu6,
  sigmoid,
  tanh,
  max_pool,
  avg_pool,
  adaptive_avg_pool,
  add,
  multiply,
  scale,
  concat,
  dropout,
  flatten,
  lrn,
  mfm,
  tokens,
  positions,
  layer_norm,
  attention,
  drop_path,
  lookup,
  lstm,
};

using NodeOptions =
    std::variant<NoOptions, ConvOptions, LinearOptions, BatchNormOptions, PreluOptions, PoolOptions,
                 AdaptivePoolOptions, LrnOptions, DropoutOptions, ScaleOptions, LayerNormOptions,
                 AttentionOptions, WordsOptions, LookupOptions, LstmOptions>;

// What an operation is called, and the options of a node of it.
struct Operation {
  Op op;
  std::string_view name;
  NodeOptions options;
};
std::span<const Operation> operations();  // in the order of Op
std::string_view op_name(Op op);

struct Node {
  std::string name;  // unique; tensors are called name + ".weight" etc.
  Op op = Op::input;
  std::vector<int> inputs;  // indices of earlier nodes
  Shape shape;              // of the result
  NodeOptions options;
};

// What a tensor is for; initialisers and counting rules go by it.
enum class TensorRole : std::uint8_t {
  weight,
  bias,
  slope,
  scale,
  shift,
  mean,
  variance,
  position
};

// One parameter or buffer of a graph.
struct TensorSpec {
  std::string
      name;  // "layer1.0.conv1.weight"; batch norm: .weight .bias .running_mean .running_var
  TensorRole role = TensorRole::weight;
  Shape shape;
  Op op = Op::conv;  // of the layer that owns it
  // Of a convolution's or linear layer's weight and bias: inputs of one output, and outputs (in all
  // groups together, as torch and Caffe count) that one input reaches.
  std::int64_t fan_in = 0;
  std::int64_t fan_out = 0;
  bool of_images = false;    // a convolution that reads the images themselves
  bool keeps_width = false;  // a convolution with as many outputs as inputs
  bool trainable() const { return role != TensorRole::mean && role != TensorRole::variance; }
};

// The result of a node, while building.
struct Value {
  int node = -1;
};

class Graph {
 public:
  // Exactly one of the two, first: images of `channels` x `height` x `width`, or sequences of
  // `steps` words, {T}, which only lookup() reads.
  Value input(std::int64_t channels, std::int64_t height, std::int64_t width);
  Value words(std::int64_t steps, std::int64_t vocabulary);

  Value conv(std::string name, Value x, const ConvOptions& options);
  Value linear(std::string name, Value x, const LinearOptions& options);
  Value batch_norm(std::string name, Value x, const BatchNormOptions& options = {});
  Value prelu(std::string name, Value x, const PreluOptions& options = {});
  Value relu(Value x);
  Value relu6(Value x);    // min(max(x, 0), 6)
  Value sigmoid(Value x);  // 1 / (1 + exp(-x))
  Value tanh(Value x);
  Value max_pool(Value x, const PoolOptions& options);
  Value avg_pool(Value x, const PoolOptions& options);
  Value adaptive_avg_pool(Value x, Size2 out);
  Value global_avg_pool(Value x) { return adaptive_avg_pool(x, 1); }
  Value add(Value a, Value b);
  // b: of a's shape, or a number for each channel of an image, {C} or {C, 1, 1}: a gate, as in
  // Hu et al., "Squeeze-and-excitation networks", CVPR 2018, eq. 4.
  Value multiply(Value a, Value b);
  Value scale(Value x, double factor);
  Value concat(const std::vector<Value>& values);  // along channels
  Value dropout(Value x, double p);
  Value flatten(Value x);  // channel-major, as torch: {C, H, W} -> {C*H*W}
  Value lrn(Value x, const LrnOptions& options = {});
  // Max-feature-map: the larger of the two halves of the channels, element by element.
  // Source: Wu et al., "A light CNN for deep face representation with noisy labels", eq. 1.
  Value mfm(Value x);

  // The pixels of an image as a sequence, row by row: {C, H, W} -> {H*W, C}.
  Value tokens(Value x);
  // Adds a learned vector to each token: weight (1, T, D).
  // Source: Dosovitskiy et al., "An image is worth 16x16 words", ICLR 2021, eq. 1.
  Value positions(std::string name, Value x);
  Value layer_norm(std::string name, Value x, const LayerNormOptions& options = {});
  // Multi-head self-attention of what a linear layer made of each token: queries, keys and values,
  // each of all heads. {T, 3 D} -> {T, D}, softmax(q k' / sqrt(D / heads)) v in every head.
  // Source: Vaswani et al., "Attention is all you need", NeurIPS 2017, eq. 1 and section 3.2.2.
  Value attention(Value qkv, const AttentionOptions& options);
  // Stochastic depth: in training the value of an image is zero with probability p, else divided by
  // 1 - p. Source: Huang et al., "Deep networks with stochastic depth", ECCV 2016.
  Value drop_path(Value x, double p);

  // A learned vector for each word: {T} -> {T, width}.
  Value lookup(std::string name, Value words, const LookupOptions& options);
  // What a layer of LSTM cells puts out at each step, from a state of zeros: {T, D} -> {T, out}.
  // i, f, o = sigmoid, g = tanh of their rows of W_ih x + W_hh h + b; c = f c + i g; h = o tanh(c).
  // Source: Zaremba et al., "Recurrent neural network regularization", 2014, section 3.1.
  Value lstm(std::string name, Value x, const LstmOptions& options);

  // Names a value, so that the executor can be asked for it. "embedding" is the face descriptor,
  // "logits" the classifier's scores. Several names may stand for one value.
  void tap(std::string name, Value x);

  const std::vector<Node>& nodes() const { return nodes_; }
  const Shape& shape(Value x) const;
  const Shape& input_shape() const;
  // How many words there are, of a graph that reads words; 0: it reads images.
  std::int64_t vocabulary() const;
  const std::vector<std::pair<std::string, int>>& taps() const { return taps_; }
  // What a classifier behind this network reads: the tap "classifier_input" where there is one (the
  // embedding behind a dropout), else "embedding".
  std::string_view classifier_input() const;
  // The node that a tap names. Throws std::invalid_argument with "did you mean".
  int tap_node(std::string_view name) const;
  // How many nodes and taps read each node's result.
  std::vector<int> use_counts() const;

  // Every parameter and buffer, in the order of the nodes.
  std::vector<TensorSpec> tensors() const;
  // Those of one node.
  std::vector<TensorSpec> tensors(const Node& node) const;

  // Appends a node as it is, its shape inferred anew: what rewriting passes build with.
  Value append(Node node);

 private:
  Shape infer(const Node& node) const;
  std::string fresh_name(Op op) const;

  std::vector<Node> nodes_;
  std::vector<std::pair<std::string, int>> taps_;
};

}  // namespace facebench
