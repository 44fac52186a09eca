#include "facebench/nn/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "facebench/core/registry.h"

namespace facebench {
namespace {

constexpr Operation kOperations[] = {
    {Op::input, "input", NoOptions{}},
    {Op::conv, "conv", ConvOptions{}},
    {Op::linear, "linear", LinearOptions{}},
    {Op::batch_norm, "batch_norm", BatchNormOptions{}},
    {Op::prelu, "prelu", PreluOptions{}},
    {Op::relu, "relu", NoOptions{}},
    {Op::relu6, "relu6", NoOptions{}},
    {Op::sigmoid, "sigmoid", NoOptions{}},
    {Op::tanh, "tanh", NoOptions{}},
    {Op::max_pool, "max_pool", PoolOptions{}},
    {Op::avg_pool, "avg_pool", PoolOptions{}},
    {Op::adaptive_avg_pool, "adaptive_avg_pool", AdaptivePoolOptions{}},
    {Op::add, "add", NoOptions{}},
    {Op::multiply, "multiply", NoOptions{}},
    {Op::scale, "scale", ScaleOptions{}},
    {Op::concat, "concat", NoOptions{}},
    {Op::dropout, "dropout", DropoutOptions{}},
    {Op::flatten, "flatten", NoOptions{}},
    {Op::lrn, "lrn", LrnOptions{}},
    {Op::mfm, "mfm", NoOptions{}},
    {Op::tokens, "tokens", NoOptions{}},
    {Op::positions, "positions", NoOptions{}},
    {Op::layer_norm, "layer_norm", LayerNormOptions{}},
    {Op::attention, "attention", AttentionOptions{}},
    {Op::drop_path, "drop_path", DropoutOptions{}},
    {Op::lookup, "lookup", LookupOptions{}},
    {Op::lstm, "lstm", LstmOptions{}},
};
static_assert([] {
  for (std::size_t i = 0; i < std::size(kOperations); ++i)
    if (kOperations[i].op != static_cast<Op>(i)) return false;
  return true;
}());

// Larger dimensions are a slip of the caller, and products of such ones could overflow.
constexpr std::int64_t kLargestDimension = std::int64_t{1} << 28;
constexpr std::int64_t kLargestValue = std::int64_t{1} << 40;

[[noreturn]] void refuse_layer(std::string_view name, std::string_view what) {
  throw std::invalid_argument(fmt::format("layer '{}': {}", name, what));
}

void require_positive(std::string_view name, std::string_view what, std::int64_t value) {
  if (value < 1 || value > kLargestDimension)
    refuse_layer(name, fmt::format("{} is {}, expected 1 or more", what, value));
}

void require_window(std::string_view name, Size2 kernel, Size2 stride, const Padding& padding,
                    Size2 dilation) {
  for (const std::int64_t v : {kernel.height, kernel.width}) require_positive(name, "kernel", v);
  for (const std::int64_t v : {stride.height, stride.width}) require_positive(name, "stride", v);
  for (const std::int64_t v : {dilation.height, dilation.width})
    require_positive(name, "dilation", v);
  for (const std::int64_t v : {padding.top, padding.left, padding.bottom, padding.right})
    if (v < 0 || v > kLargestDimension)
      refuse_layer(name, fmt::format("padding is {}, expected 0 or more", v));
}

// The number of positions of a window along one side.
std::int64_t window_count(std::string_view name, std::int64_t size, std::int64_t kernel,
                          std::int64_t stride, std::int64_t before, std::int64_t after,
                          std::int64_t dilation, bool ceil_mode) {
  const std::int64_t span = dilation * (kernel - 1) + 1;
  const std::int64_t room = size + before + after - span;
  if (room < 0)
    refuse_layer(name, fmt::format("a window of {} does not fit into {} + {} + {} of padding", span,
                                   before, size, after));
  std::int64_t count = (ceil_mode ? (room + stride - 1) / stride : room / stride) + 1;
  // A window that would start in the padding after the image is left out, as torch and Caffe do.
  if (ceil_mode && (count - 1) * stride >= size + before) --count;
  return count;
}

Shape conv_shape(const std::string& name, const ConvOptions& o, const Shape& x) {
  require_positive(name, "out", o.out);
  require_positive(name, "groups", o.groups);
  require_window(name, o.kernel, o.stride, o.padding, o.dilation);
  if (x[0] % o.groups || o.out % o.groups)
    refuse_layer(name, fmt::format("{} groups do not divide {} input and {} output channels",
                                   o.groups, x[0], o.out));
  return {o.out,
          window_count(name, x[1], o.kernel.height, o.stride.height, o.padding.top,
                       o.padding.bottom, o.dilation.height, false),
          window_count(name, x[2], o.kernel.width, o.stride.width, o.padding.left, o.padding.right,
                       o.dilation.width, false)};
}

// A shape with another number of values in each token, or in the vector.
Shape with_width(Shape shape, std::int64_t width) {
  shape.back() = width;
  return shape;
}

Shape linear_shape(const std::string& name, const LinearOptions& o, const Shape& x) {
  require_positive(name, "out", o.out);
  if (x.size() == 3)
    refuse_layer(name, fmt::format("linear takes a vector, its input is {}; flatten it first",
                                   shape_text(x)));
  return with_width(x, o.out);
}

Shape concat_shape(const std::string& name, const std::vector<Shape>& parts) {
  Shape shape = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].size() != shape.size() ||
        !std::equal(shape.begin() + 1, shape.end(), parts[i].begin() + 1))
      refuse_layer(name, fmt::format("concat joins channels, {} does not match {}",
                                     shape_text(parts[i]), shape_text(parts[0])));
    shape[0] += parts[i][0];
  }
  return shape;
}

Shape attention_shape(const std::string& name, const AttentionOptions& o, const Shape& qkv) {
  require_positive(name, "heads", o.heads);
  if (qkv[1] % (3 * o.heads))
    refuse_layer(name, fmt::format("{} numbers in a token are not queries, keys and values of {} "
                                   "heads",
                                   qkv[1], o.heads));
  return {qkv[0], qkv[1] / 3};
}

Shape pool_shape(const std::string& name, Op op, const PoolOptions& o, const Shape& x) {
  require_window(name, o.kernel, o.stride, o.padding, 1);
  const bool zeros_count = op == Op::avg_pool && o.count_include_pad;
  if (!o.padding.symmetric() && op == Op::avg_pool && !zeros_count)
    refuse_layer(name, "an average without its padding pads both sides alike");
  if (!zeros_count && (std::max(o.padding.top, o.padding.bottom) * 2 > o.kernel.height ||
                       std::max(o.padding.left, o.padding.right) * 2 > o.kernel.width))
    refuse_layer(name, "padding is more than half the kernel");
  return {x[0],
          window_count(name, x[1], o.kernel.height, o.stride.height, o.padding.top,
                       o.padding.bottom, 1, o.ceil_mode),
          window_count(name, x[2], o.kernel.width, o.stride.width, o.padding.left, o.padding.right,
                       1, o.ceil_mode)};
}

}  // namespace

std::string shape_text(const Shape& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

std::int64_t element_count(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return n;
}

std::span<const Operation> operations() { return kOperations; }

std::string_view op_name(Op op) { return kOperations[static_cast<std::size_t>(op)].name; }

Shape Graph::infer(const Node& node) const {
  const std::string& name = node.name;
  for (const int i : node.inputs)
    if (i < 0 || i >= static_cast<int>(nodes_.size()))
      refuse_layer(name, "its input is not a value of this graph");
  const auto in = [&](std::size_t i) -> const Shape& { return nodes_[node.inputs[i]].shape; };
  const auto image = [&]() -> const Shape& {
    if (in(0).size() != 3)
      refuse_layer(name, fmt::format("{} takes images (CxHxW), its input is {}", op_name(node.op),
                                     shape_text(in(0))));
    return in(0);
  };
  const auto sequence = [&]() -> const Shape& {
    if (in(0).size() != 2)
      refuse_layer(name, fmt::format("{} takes a sequence (tokens x width), its input is {}",
                                     op_name(node.op), shape_text(in(0))));
    return in(0);
  };
  const auto by_channels = [&]() -> const Shape& {
    if (in(0).size() == 2)
      refuse_layer(name, fmt::format("{} takes images or vectors, its input is the sequence {}",
                                     op_name(node.op), shape_text(in(0))));
    return in(0);
  };
  if (vocabulary() > 0 && node.op != Op::lookup &&
      std::find(node.inputs.begin(), node.inputs.end(), 0) != node.inputs.end())
    refuse_layer(name, fmt::format("{} cannot read words; a lookup can", op_name(node.op)));
  const bool many = node.op == Op::concat;
  const std::size_t arity = node.op == Op::input                            ? 0
                            : node.op == Op::add || node.op == Op::multiply ? 2
                                                                            : 1;
  if (many ? node.inputs.empty() : node.inputs.size() != arity)
    refuse_layer(name, fmt::format("{} has {} inputs", op_name(node.op), node.inputs.size()));

  switch (node.op) {
    case Op::input:
      if (const auto* words = std::get_if<WordsOptions>(&node.options))
        require_positive(name, "vocabulary", words->vocabulary);
      return node.shape;
    case Op::conv:
      return conv_shape(name, std::get<ConvOptions>(node.options), image());
    case Op::linear:
      return linear_shape(name, std::get<LinearOptions>(node.options), in(0));
    case Op::batch_norm: {
      if (!(std::get<BatchNormOptions>(node.options).eps >= 0))
        refuse_layer(name, "eps is negative");
      return by_channels();
    }
    case Op::max_pool:
    case Op::avg_pool:
      return pool_shape(name, node.op, std::get<PoolOptions>(node.options), image());
    case Op::adaptive_avg_pool: {
      const Size2 out = std::get<AdaptivePoolOptions>(node.options).out;
      require_positive(name, "out", out.height);
      require_positive(name, "out", out.width);
      return {image()[0], out.height, out.width};
    }
    case Op::add:
      if (in(0) != in(1))
        refuse_layer(name, fmt::format("add takes two values of one shape, these are {} and {}",
                                       shape_text(in(0)), shape_text(in(1))));
      return in(0);
    case Op::multiply: {
      const std::int64_t channels = in(0)[0];
      const bool gate =
          in(0).size() == 3 && (in(1) == Shape{channels} || in(1) == Shape{channels, 1, 1});
      if (in(0) != in(1) && !gate)
        refuse_layer(name, fmt::format("multiply takes two values of one shape, or an image and a "
                                       "number for each of its channels; these are {} and {}",
                                       shape_text(in(0)), shape_text(in(1))));
      return in(0);
    }
    case Op::concat: {
      by_channels();
      std::vector<Shape> parts;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) parts.push_back(in(i));
      return concat_shape(name, parts);
    }
    case Op::dropout:
    case Op::drop_path:
      if (const double p = std::get<DropoutOptions>(node.options).p; !(p >= 0 && p < 1))
        refuse_layer(name, fmt::format("{} with p = {}, expected 0 <= p < 1", op_name(node.op), p));
      return in(0);
    case Op::flatten:
      return {element_count(in(0))};
    case Op::lrn:
      require_positive(name, "size", std::get<LrnOptions>(node.options).size);
      return image();
    case Op::mfm: {
      Shape shape = by_channels();
      if (shape[0] % 2)
        refuse_layer(name, fmt::format("mfm halves the channels, {} is odd", shape[0]));
      shape[0] /= 2;
      return shape;
    }
    case Op::prelu:
      return by_channels();
    case Op::relu:
    case Op::relu6:
    case Op::sigmoid:
    case Op::tanh:
    case Op::scale:
      return in(0);
    case Op::tokens:
      return {image()[1] * image()[2], image()[0]};
    case Op::positions:
      return sequence();
    case Op::layer_norm:
      if (!(std::get<LayerNormOptions>(node.options).eps >= 0))
        refuse_layer(name, "eps is negative");
      return sequence();
    case Op::attention:
      return attention_shape(name, std::get<AttentionOptions>(node.options), sequence());
    case Op::lookup: {
      if (vocabulary() == 0 || node.inputs[0] != 0)
        refuse_layer(name, "lookup takes the words that the graph reads");
      const std::int64_t width = std::get<LookupOptions>(node.options).width;
      require_positive(name, "width", width);
      return {in(0)[0], width};
    }
    case Op::lstm: {
      const std::int64_t out = std::get<LstmOptions>(node.options).out;
      require_positive(name, "out", out);
      return {sequence()[0], out};
    }
  }
  throw std::logic_error("infer");
}

Value Graph::append(Node node) {
  if (node.name.empty()) node.name = fresh_name(node.op);
  if (nodes_.empty() != (node.op == Op::input))
    refuse_layer(node.name, "a graph begins with its one input");
  for (const Node& n : nodes_)
    if (n.name == node.name) refuse_layer(node.name, "there is another layer of this name");
  node.shape = infer(node);
  std::int64_t elements = 1;
  for (const std::int64_t d : node.shape) {
    require_positive(node.name, "a dimension of its result", d);
    elements *= d;  // each factor below 2^28 and the product below 2^40: no overflow
    if (elements > kLargestValue) refuse_layer(node.name, "its result is too large");
  }
  nodes_.push_back(std::move(node));
  return {static_cast<int>(nodes_.size()) - 1};
}

std::string Graph::fresh_name(Op op) const {
  return fmt::format("{}_{}", op_name(op), nodes_.size());
}

Value Graph::input(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return append({"input", Op::input, {}, {channels, height, width}, NoOptions{}});
}
Value Graph::words(std::int64_t steps, std::int64_t vocabulary) {
  return append({"input", Op::input, {}, {steps}, WordsOptions{vocabulary}});
}
Value Graph::conv(std::string name, Value x, const ConvOptions& o) {
  return append({std::move(name), Op::conv, {x.node}, {}, o});
}
Value Graph::linear(std::string name, Value x, const LinearOptions& o) {
  return append({std::move(name), Op::linear, {x.node}, {}, o});
}
Value Graph::batch_norm(std::string name, Value x, const BatchNormOptions& o) {
  return append({std::move(name), Op::batch_norm, {x.node}, {}, o});
}
Value Graph::prelu(std::string name, Value x, const PreluOptions& o) {
  return append({std::move(name), Op::prelu, {x.node}, {}, o});
}
Value Graph::relu(Value x) { return append({"", Op::relu, {x.node}, {}, NoOptions{}}); }
Value Graph::relu6(Value x) { return append({"", Op::relu6, {x.node}, {}, NoOptions{}}); }
Value Graph::max_pool(Value x, const PoolOptions& o) {
  return append({"", Op::max_pool, {x.node}, {}, o});
}
Value Graph::avg_pool(Value x, const PoolOptions& o) {
  return append({"", Op::avg_pool, {x.node}, {}, o});
}
Value Graph::adaptive_avg_pool(Value x, Size2 out) {
  return append({"", Op::adaptive_avg_pool, {x.node}, {}, AdaptivePoolOptions{out}});
}
Value Graph::add(Value a, Value b) {
  return append({"", Op::add, {a.node, b.node}, {}, NoOptions{}});
}
Value Graph::multiply(Value a, Value b) {
  return append({"", Op::multiply, {a.node, b.node}, {}, NoOptions{}});
}
Value Graph::scale(Value x, double factor) {
  return append({"", Op::scale, {x.node}, {}, ScaleOptions{factor}});
}
Value Graph::concat(const std::vector<Value>& values) {
  Node node{"", Op::concat, {}, {}, NoOptions{}};
  for (const Value v : values) node.inputs.push_back(v.node);
  return append(std::move(node));
}
Value Graph::dropout(Value x, double p) {
  return append({"", Op::dropout, {x.node}, {}, DropoutOptions{p}});
}
Value Graph::flatten(Value x) { return append({"", Op::flatten, {x.node}, {}, NoOptions{}}); }
Value Graph::lrn(Value x, const LrnOptions& o) { return append({"", Op::lrn, {x.node}, {}, o}); }
Value Graph::sigmoid(Value x) { return append({"", Op::sigmoid, {x.node}, {}, NoOptions{}}); }
Value Graph::tanh(Value x) { return append({"", Op::tanh, {x.node}, {}, NoOptions{}}); }
Value Graph::mfm(Value x) { return append({"", Op::mfm, {x.node}, {}, NoOptions{}}); }
Value Graph::tokens(Value x) { return append({"", Op::tokens, {x.node}, {}, NoOptions{}}); }
Value Graph::positions(std::string name, Value x) {
  return append({std::move(name), Op::positions, {x.node}, {}, NoOptions{}});
}
Value Graph::layer_norm(std::string name, Value x, const LayerNormOptions& o) {
  return append({std::move(name), Op::layer_norm, {x.node}, {}, o});
}
Value Graph::attention(Value qkv, const AttentionOptions& o) {
  return append({"", Op::attention, {qkv.node}, {}, o});
}
Value Graph::drop_path(Value x, double p) {
  return append({"", Op::drop_path, {x.node}, {}, DropoutOptions{p}});
}
Value Graph::lookup(std::string name, Value words, const LookupOptions& o) {
  return append({std::move(name), Op::lookup, {words.node}, {}, o});
}
Value Graph::lstm(std::string name, Value x, const LstmOptions& o) {
  return append({std::move(name), Op::lstm, {x.node}, {}, o});
}

void Graph::tap(std::string name, Value x) {
  shape(x);
  for (const auto& [known, node] : taps_)
    if (known == name)
      throw std::invalid_argument(fmt::format("there is another tap called '{}'", name));
  taps_.emplace_back(std::move(name), x.node);
}

const Shape& Graph::shape(Value x) const {
  if (x.node < 0 || x.node >= static_cast<int>(nodes_.size()))
    throw std::invalid_argument("not a value of this graph");
  return nodes_[static_cast<std::size_t>(x.node)].shape;
}

const Shape& Graph::input_shape() const {
  if (nodes_.empty()) throw std::invalid_argument("the graph is empty");
  return nodes_.front().shape;
}

std::int64_t Graph::vocabulary() const {
  if (nodes_.empty()) return 0;
  const auto* words = std::get_if<WordsOptions>(&nodes_.front().options);
  return words ? words->vocabulary : 0;
}

std::string_view Graph::classifier_input() const {
  for (const auto& [name, node] : taps_)
    if (name == "classifier_input") return name;
  return "embedding";
}

int Graph::tap_node(std::string_view name) const {
  std::vector<std::string> known;
  for (const auto& [tap, node] : taps_) {
    if (tap == name) return node;
    known.push_back(tap);
  }
  throw std::invalid_argument(unknown_name_message("tap", name, known));
}

std::vector<int> Graph::use_counts() const {
  std::vector<int> uses(nodes_.size(), 0);
  for (const Node& node : nodes_)
    for (const int i : node.inputs) ++uses[static_cast<std::size_t>(i)];
  for (const auto& [name, node] : taps_) ++uses[static_cast<std::size_t>(node)];
  return uses;
}

std::vector<TensorSpec> Graph::tensors(const Node& node) const {
  std::vector<TensorSpec> result;
  std::int64_t fan_in = 0, fan_out = 0;
  bool of_images = false, keeps_width = false;
  const auto add = [&](const char* suffix, TensorRole role, Shape shape) {
    result.push_back({node.name + suffix, role, std::move(shape), node.op, fan_in, fan_out,
                      of_images, keeps_width});
  };
  const auto in = [&]() -> const Shape& {
    return nodes_[static_cast<std::size_t>(node.inputs[0])].shape;
  };
  switch (node.op) {
    case Op::conv: {
      const auto& o = std::get<ConvOptions>(node.options);
      const std::int64_t area = o.kernel.height * o.kernel.width;
      fan_in = in()[0] / o.groups * area;
      fan_out = o.out * area;
      of_images = node.inputs[0] == 0;
      keeps_width = in()[0] == o.out;
      add(".weight", TensorRole::weight,
          {o.out, in()[0] / o.groups, o.kernel.height, o.kernel.width});
      if (o.bias) add(".bias", TensorRole::bias, {o.out});
      break;
    }
    case Op::linear: {
      const auto& o = std::get<LinearOptions>(node.options);
      fan_in = in().back();
      fan_out = o.out;
      add(".weight", TensorRole::weight, {o.out, in().back()});
      if (o.bias) add(".bias", TensorRole::bias, {o.out});
      break;
    }
    case Op::batch_norm: {
      const auto& o = std::get<BatchNormOptions>(node.options);
      const Shape channels{in()[0]};
      if (o.scale) add(".weight", TensorRole::scale, channels);
      if (o.shift) add(".bias", TensorRole::shift, channels);
      add(".running_mean", TensorRole::mean, channels);
      add(".running_var", TensorRole::variance, channels);
      break;
    }
    case Op::prelu:
      add(".weight", TensorRole::slope,
          {std::get<PreluOptions>(node.options).shared ? 1 : in()[0]});
      break;
    case Op::positions:
      add(".weight", TensorRole::position, {1, in()[0], in()[1]});
      break;
    case Op::layer_norm:
      add(".weight", TensorRole::scale, {in()[1]});
      add(".bias", TensorRole::shift, {in()[1]});
      break;
    case Op::lookup:
      add(".weight", TensorRole::weight,
          {vocabulary(), std::get<LookupOptions>(node.options).width});
      break;
    case Op::lstm: {
      const std::int64_t out = std::get<LstmOptions>(node.options).out;
      fan_out = out;
      fan_in = in()[1];
      add(".weight_ih_l0", TensorRole::weight, {4 * out, fan_in});
      fan_in = out;
      add(".weight_hh_l0", TensorRole::weight, {4 * out, out});
      add(".bias_ih_l0", TensorRole::bias, {4 * out});
      break;
    }
    default:
      break;
  }
  return result;
}

std::vector<TensorSpec> Graph::tensors() const {
  std::vector<TensorSpec> result;
  for (const Node& node : nodes_)
    for (TensorSpec& spec : tensors(node)) result.push_back(std::move(spec));
  return result;
}

}  // namespace facebench
