#include "facebench/nn/network.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/random.h"
#include "facebench/core/registry.h"
#include "facebench/nn/batch_norm_folding.h"
#include "facebench/nn/initializers.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/internal/norm_activation.h"

namespace facebench {
namespace {

at::Tensor empty_parameter(const TensorSpec& spec) {
  at::Tensor t = at::empty(spec.shape, at::kFloat);
  if (spec.trainable()) t.set_requires_grad(true);
  return t;
}

at::Tensor pad_sides(const at::Tensor& x, const Padding& p, double value) {
  return at::constant_pad_nd(x, {p.left, p.right, p.top, p.bottom}, value);
}

at::Tensor run_conv(const at::Tensor& x, const ConvOptions& o, const std::vector<at::Tensor>& t) {
  const std::optional<at::Tensor> bias = o.bias ? std::optional(t[1]) : std::nullopt;
  const bool symmetric = o.padding.symmetric();
  const at::Tensor padded = symmetric ? x : pad_sides(x, o.padding, 0);
  const std::vector<std::int64_t> padding =
      symmetric ? std::vector<std::int64_t>{o.padding.top, o.padding.left}
                : std::vector<std::int64_t>{0, 0};
  return at::conv2d(padded, t[0], bias, {o.stride.height, o.stride.width}, padding,
                    {o.dilation.height, o.dilation.width}, o.groups);
}

at::Tensor run_batch_norm(const at::Tensor& x, const BatchNormOptions& o,
                          const std::vector<at::Tensor>& t, bool training) {
  std::size_t next = 0;
  std::optional<at::Tensor> scale, shift;
  if (o.scale) scale = t[next++];
  if (o.shift) shift = t[next++];
  // On a card torch has no gradient of the one where the other is left out.
  if (!x.is_cpu() && o.scale != o.shift) {
    if (o.scale)
      shift = at::zeros_like(*scale);
    else
      scale = at::ones_like(*shift);
  }
  return at::batch_norm(x, scale, shift, t[next], t[next + 1], training, o.momentum, o.eps,
                        /*cudnn_enabled=*/true);
}

// A chain of nodes as one operation; `layers` holds each node's tensors, `norm` the options of its
// batch norm.
at::Tensor run_chain(const NormChain& chain, const BatchNormOptions& norm,
                     const std::vector<Node>& nodes,
                     const std::vector<std::vector<at::Tensor>>& layers,
                     const std::vector<at::Tensor>& values) {
  const auto index = [](int node) { return static_cast<std::size_t>(node); };
  NormActivation what;
  if (chain.norm >= 0) {
    const std::vector<at::Tensor>& t = layers[index(chain.norm)];
    what.options = norm;
    std::size_t next = 0;
    if (what.options.scale) what.scale = t[next++];
    if (what.options.shift) what.shift = t[next++];
    what.mean = t[next];
    what.variance = t[next + 1];
  }
  if (chain.residual >= 0) what.residual = values[index(chain.residual)];
  if (chain.activation >= 0) {
    what.relu = nodes[index(chain.activation)].op == Op::relu;
    if (!what.relu) what.slope = layers[index(chain.activation)][0];
  }
  return norm_activation(values[index(nodes[index(chain.first())].inputs[0])], what);
}

// Images of one channel lie the same way in both layouts; their strides tell torch which is meant.
at::Tensor with_channels_last(const at::Tensor& images) {
  const std::int64_t channels = images.size(1), height = images.size(2), width = images.size(3);
  return images.contiguous(at::MemoryFormat::ChannelsLast)
      .as_strided(images.sizes(), {height * width * channels, 1, width * channels, channels});
}

at::Tensor run_max_pool(const at::Tensor& x, const PoolOptions& o) {
  const std::vector<std::int64_t> kernel{o.kernel.height, o.kernel.width};
  const std::vector<std::int64_t> stride{o.stride.height, o.stride.width};
  const double lowest = -std::numeric_limits<double>::infinity();
  const at::Tensor pooled =
      o.padding.symmetric()
          ? at::max_pool2d(x, kernel, stride, {o.padding.top, o.padding.left}, {1, 1}, o.ceil_mode)
          : at::max_pool2d(pad_sides(x, o.padding, lowest), kernel, stride, {0, 0}, {1, 1},
                           o.ceil_mode);
  // A gradient of another layout (behind a flattening) makes torch lay out the whole gradient of x
  // anew, twice.
  if (pooled.requires_grad())
    pooled.register_hook([format = x.suggest_memory_format()](const at::Tensor& gradient) {
      return gradient.contiguous(format);
    });
  return pooled;
}

at::Tensor run_avg_pool(const at::Tensor& x, const PoolOptions& o) {
  const bool whole = o.padding.symmetric() && o.padding.top * 2 <= o.kernel.height &&
                     o.padding.left * 2 <= o.kernel.width;  // torch pads no other way
  const std::vector<std::int64_t> padding =
      whole ? std::vector<std::int64_t>{o.padding.top, o.padding.left}
            : std::vector<std::int64_t>{0, 0};
  return at::avg_pool2d(whole ? x : pad_sides(x, o.padding, 0), {o.kernel.height, o.kernel.width},
                        {o.stride.height, o.stride.width}, padding, o.ceil_mode,
                        o.count_include_pad);
}

// torch has no operation for it; the sum over neighbouring channels is an average pool in 3-D.
at::Tensor run_lrn(const at::Tensor& x, const LrnOptions& o) {
  const auto sizes = x.sizes();
  at::Tensor squares = (x * x).reshape({sizes[0], 1, sizes[1], sizes[2] * sizes[3], 1});
  squares = at::constant_pad_nd(squares, {0, 0, 0, 0, o.size / 2, (o.size - 1) / 2});
  const at::Tensor mean = at::avg_pool3d(squares, {o.size, 1, 1}, {1, 1, 1}).reshape(sizes);
  return x / (mean * o.alpha + o.k).pow(o.beta);
}

// Queries, keys and values lie in the last dimension, each of all heads.
at::Tensor run_attention(const at::Tensor& qkv, std::int64_t heads) {
  const std::int64_t n = qkv.size(0), tokens = qkv.size(1), width = qkv.size(2) / 3;
  const std::vector<at::Tensor> parts =
      qkv.view({n, tokens, 3, heads, width / heads}).permute({2, 0, 3, 1, 4}).unbind(0);
  return at::scaled_dot_product_attention(parts[0], parts[1], parts[2])
      .transpose(1, 2)
      .reshape({n, tokens, width});
}

// A second bias, which torch's operation wants, is zero.
at::Tensor run_lstm(const at::Tensor& x, const std::vector<at::Tensor>& t, bool training) {
  const at::Tensor none = at::zeros({1, x.size(0), t[1].size(1)}, x.options());
  return std::get<0>(at::lstm(x, {none, none}, {t[0], t[1], t[2], at::zeros_like(t[2])},
                              /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0, training,
                              /*bidirectional=*/false, /*batch_first=*/true));
}

// `shape` of the mask: x's own, or one number for each image.
at::Tensor run_dropout(const at::Tensor& x, at::IntArrayRef shape, double p, Random random) {
  at::Tensor mask = at::empty(shape, at::kFloat);
  const auto threshold = static_cast<std::uint64_t>(p * 4294967296.0);
  const auto kept = static_cast<float>(1 / (1 - p));
  float* m = mask.data_ptr<float>();
  for (std::int64_t i = 0, n = mask.numel(); i < n; ++i)
    m[i] = random.next_u32() < threshold ? 0.0F : kept;
  return x * mask.to(x.options());
}

std::string sizes_text(const at::Tensor& t) {
  return fmt::format("({})", fmt::join(t.sizes().begin(), t.sizes().end(), ", "));
}

// torch's own precision rule for batch norm: its vectors stay float32 beside 16-bit values.
bool stays_float(const TensorSpec& spec, at::ScalarType dtype) {
  return spec.op == Op::batch_norm && (dtype == at::kHalf || dtype == at::kBFloat16);
}

std::vector<std::pair<std::string, Shape>> shapes_of(std::span<const NamedTensor> tensors) {
  std::vector<std::pair<std::string, Shape>> result;
  for (const NamedTensor& t : tensors) result.emplace_back(t.name, t.tensor.sizes().vec());
  return result;
}

}  // namespace

void check_tensors(const Graph& graph, std::span<const std::pair<std::string, Shape>> given,
                   std::string_view where) {
  const std::vector<TensorSpec> own = graph.tensors();
  std::map<std::string_view, const Shape*> found;
  std::vector<std::string> given_names, own_names;
  for (const TensorSpec& t : own) own_names.push_back(t.name);
  for (const auto& [name, shape] : given) {
    given_names.push_back(name);
    if (!found.emplace(name, &shape).second)
      fail(where, fmt::format("tensor '{}' is there twice", name));
  }
  for (const TensorSpec& t : own) {
    const auto it = found.find(t.name);
    if (it == found.end()) {
      const std::string near = closest_name(t.name, given_names);
      fail(where, fmt::format("tensor '{}' ({}) is missing", t.name, shape_text(t.shape)),
           near.empty() ? "These are not the weights of this network"
                        : fmt::format("The nearest name there is '{}'", near));
    }
    if (*it->second != t.shape)
      fail(where,
           fmt::format("tensor '{}' is ({}), expected ({})", t.name, shape_text(*it->second),
                       shape_text(t.shape)),
           "The weights are of a network with other options (input size, embedding, classes)");
  }
  if (given.size() == own.size()) return;
  const std::set<std::string_view> known(own_names.begin(), own_names.end());
  for (const auto& [name, shape] : given) {
    if (known.contains(name)) continue;
    const std::string near = closest_name(name, own_names);
    fail(where, fmt::format("tensor '{}' ({}) is not part of the network", name, shape_text(shape)),
         near.empty() ? "" : fmt::format("Did you mean '{}'?", near));
  }
}

Network::Network(Graph graph, Uninitialized) : graph_(std::move(graph)) {
  layers_.resize(graph_.nodes().size());
  for (std::size_t i = 0; i < layers_.size(); ++i)
    for (const TensorSpec& spec : graph_.tensors(graph_.nodes()[i])) {
      const at::Tensor t = empty_parameter(spec);
      layers_[i].push_back(t);
      (spec.trainable() ? parameters_ : buffers_).push_back({spec.name, t});
    }
}

Network::Network(Graph graph, std::string_view initializer, std::uint64_t seed)
    : Network(std::move(graph), Uninitialized{}) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::vector<TensorSpec> specs = graph_.tensors(graph_.nodes()[i]);
    for (std::size_t k = 0; k < specs.size(); ++k)
      initialize(
          specs[k], initializer, seed,
          {layers_[i][k].data_ptr<float>(), static_cast<std::size_t>(layers_[i][k].numel())});
  }
}

Network::Network(Graph graph, std::span<const NamedTensor> given, std::string_view where)
    : Network((check_tensors(graph, shapes_of(given), where), std::move(graph)), Uninitialized{}) {
  load(given, where);
}

Network Network::clone() const {
  Network copy(graph_, Uninitialized{});
  copy.to(device(), dtype_);
  copy.channels_last(channels_last_);
  copy.load(tensors(), "network");
  copy.training_ = training_;
  copy.batch_norm_share_ = batch_norm_share_;
  copy.dropout_on_ = dropout_on_;
  copy.frozen_ = frozen_;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    copy.parameters_[i].tensor.set_requires_grad(parameters_[i].tensor.requires_grad());
  copy.set_dropout(dropout_seed_, dropout_step_);
  return copy;
}

std::vector<NamedTensor> Network::tensors() const {
  std::vector<NamedTensor> result;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::vector<TensorSpec> specs = graph_.tensors(graph_.nodes()[i]);
    for (std::size_t k = 0; k < specs.size(); ++k) result.push_back({specs[k].name, layers_[i][k]});
  }
  return result;
}

at::Tensor Network::tensor(std::string_view name) const {
  std::vector<std::string> known;
  for (const NamedTensor& t : tensors()) {
    if (t.name == name) return t.tensor;
    known.push_back(t.name);
  }
  throw std::invalid_argument(unknown_name_message("tensor", name, known));
}

void Network::load(std::span<const NamedTensor> given, std::string_view where) {
  check_tensors(graph_, shapes_of(given), where);
  std::unordered_map<std::string_view, const at::Tensor*> found;
  for (const NamedTensor& t : given) found.emplace(t.name, &t.tensor);
  const c10::NoGradGuard no_grad;
  for (const NamedTensor& t : tensors()) {
    at::Tensor target = t.tensor;
    target.copy_(*found.at(t.name));
  }
}

void Network::freeze(const std::function<bool(std::string_view)>& covers) {
  for (NamedTensor& p : parameters_)
    if (covers(p.name)) p.tensor.set_requires_grad(false);
  const std::vector<Node>& nodes = graph_.nodes();
  frozen_.assign(nodes.size(), false);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<TensorSpec> specs = graph_.tensors(nodes[i]);
    if (nodes[i].op == Op::batch_norm)
      frozen_[i] = std::ranges::all_of(
          specs, [&](const TensorSpec& t) { return t.trainable() || covers(t.name); });
    else
      frozen_[i] = specs.empty() && covers(nodes[i].name);
  }
}

void Network::to(at::Device device, at::ScalarType dtype) {
  if (!at::isFloatingType(dtype))
    throw std::invalid_argument("a network's type is a floating point type");
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::vector<TensorSpec> specs = graph_.tensors(graph_.nodes()[i]);
    for (std::size_t k = 0; k < specs.size(); ++k) {
      const at::ScalarType type = stays_float(specs[k], dtype) ? at::kFloat : dtype;
      at::Tensor& t = layers_[i][k];
      t.mutable_grad().reset();
      t.set_data(t.detach().to(device, type));
    }
  }
  dtype_ = dtype;
}

void Network::channels_last(bool on) {
  const c10::NoGradGuard no_grad;
  const auto format = on ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  for (std::vector<at::Tensor>& layer : layers_)
    for (at::Tensor& t : layer)
      if (t.dim() == 4) {
        t.mutable_grad().reset();
        t.set_data(t.detach().contiguous(format));
      }
  channels_last_ = on;
}

at::Device Network::device() const {
  for (const std::vector<at::Tensor>& layer : layers_)
    if (!layer.empty()) return layer.front().device();
  return at::kCPU;
}

void Network::check_input(const at::Tensor& input) const {
  const Shape& s = graph_.input_shape();
  const bool words = graph_.vocabulary() > 0;
  if (!input.defined() || input.dim() != static_cast<std::int64_t>(s.size()) + 1 ||
      input.sizes().slice(1) != at::IntArrayRef(s))
    throw std::invalid_argument(fmt::format("the network takes {} of (N, {}), got {}",
                                            words ? "words" : "images", fmt::join(s, ", "),
                                            input.defined() ? sizes_text(input) : "no tensor"));
  if (words && input.scalar_type() != at::kLong)
    throw std::invalid_argument(fmt::format("words are numbers in int64, these are {}",
                                            c10::toString(input.scalar_type())));
  if (!words && input.scalar_type() != dtype_)
    throw std::invalid_argument(fmt::format("the network computes in {}, the images are {}",
                                            c10::toString(dtype_),
                                            c10::toString(input.scalar_type())));
  if (input.device() != device())
    throw std::invalid_argument(
        fmt::format("the network is on {}, its input on {}", device().str(), input.device().str()));
}

BatchNormOptions Network::batch_norm_options(int index) const {
  auto options =
      std::get<BatchNormOptions>(graph_.nodes()[static_cast<std::size_t>(index)].options);
  if (batch_norm_share_) options.momentum = *batch_norm_share_;
  return options;
}

at::Tensor Network::run_node(int index, const std::vector<at::Tensor>& values,
                             bool training) const {
  training = training && !is_frozen(index);
  const Node& node = graph_.nodes()[static_cast<std::size_t>(index)];
  const std::vector<at::Tensor>& t = layers_[static_cast<std::size_t>(index)];
  const auto in = [&](std::size_t i) -> const at::Tensor& {
    return values[static_cast<std::size_t>(node.inputs[i])];
  };
  switch (node.op) {
    case Op::input:
      break;
    case Op::conv:
      return run_conv(in(0), std::get<ConvOptions>(node.options), t);
    case Op::linear:
      return at::linear(in(0), t[0], t.size() > 1 ? std::optional(t[1]) : std::nullopt);
    case Op::batch_norm:
      return run_batch_norm(in(0), batch_norm_options(index), t, training);
    case Op::prelu:
      return at::prelu(in(0), t[0].to(in(0).scalar_type()));  // autocast leaves it to us
    case Op::relu:
      return at::relu(in(0));
    case Op::relu6:
      return at::hardtanh(in(0), 0, 6);
    case Op::sigmoid:
      return at::sigmoid(in(0));
    case Op::tanh:
      return at::tanh(in(0));
    case Op::max_pool:
      return run_max_pool(in(0), std::get<PoolOptions>(node.options));
    case Op::avg_pool:
      return run_avg_pool(in(0), std::get<PoolOptions>(node.options));
    case Op::adaptive_avg_pool: {
      const Size2 out = std::get<AdaptivePoolOptions>(node.options).out;
      return at::adaptive_avg_pool2d(in(0), {out.height, out.width});
    }
    case Op::add:
      return in(0) + in(1);
    case Op::multiply:
      return in(0) * (in(1).dim() < in(0).dim() ? in(1).unsqueeze(2).unsqueeze(3) : in(1));
    case Op::scale:
      return in(0) * std::get<ScaleOptions>(node.options).factor;
    case Op::concat: {
      std::vector<at::Tensor> parts;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) parts.push_back(in(i));
      return at::cat(parts, 1);
    }
    case Op::dropout:
    case Op::drop_path: {
      const double p = std::get<DropoutOptions>(node.options).p;
      if (!training || !dropout_on_ || p == 0) return in(0);
      std::vector<std::int64_t> shape = in(0).sizes().vec();
      if (node.op == Op::drop_path) std::fill(shape.begin() + 1, shape.end(), 1);
      return run_dropout(in(0), shape, p,
                         Random(dropout_seed_, "dropout/" + node.name, {dropout_step_}));
    }
    case Op::flatten:
      return in(0).flatten(1);
    case Op::lrn:
      return run_lrn(in(0), std::get<LrnOptions>(node.options));
    case Op::mfm: {
      if (has_norm_activation(in(0), 32)) return maxout(in(0));
      const std::vector<at::Tensor> halves = in(0).chunk(2, 1);
      return at::maximum(halves[0], halves[1]);
    }
    case Op::tokens:
      return in(0).flatten(2).transpose(1, 2).contiguous();
    case Op::positions:
      return in(0) + t[0];
    case Op::layer_norm:
      return at::layer_norm(in(0), {in(0).size(2)}, t[0], t[1],
                            std::get<LayerNormOptions>(node.options).eps);
    case Op::attention:
      return run_attention(in(0), std::get<AttentionOptions>(node.options).heads);
    case Op::lookup:
      return at::embedding(t[0], in(0));
    case Op::lstm:
      return run_lstm(in(0), t, training);
  }
  throw std::logic_error("run_node");
}

std::vector<at::Tensor> Network::run(const at::Tensor& images, std::span<const int> outputs,
                                     bool training, const Override& override) const {
  check_input(images);
  // Only what the wanted values depend on, each value dropped after its last use.
  const std::vector<Node>& nodes = graph_.nodes();
  std::vector<int> uses(nodes.size(), 0);
  for (const int w : outputs) ++uses[static_cast<std::size_t>(w)];
  for (std::size_t i = nodes.size(); i-- > 0;)
    if (uses[i] > 0)
      for (const int input : nodes[i].inputs) ++uses[static_cast<std::size_t>(input)];

  std::vector<at::Tensor> values(nodes.size());
  const bool relaid = channels_last_ && images.dim() == 4;
  values[0] = relaid ? with_channels_last(images) : images;
  // In training a chain runs as one at its last node, which it is looked up by; the others wait.
  std::vector<NormChain> chains(nodes.size());
  std::vector<bool> waits(nodes.size(), false);
  if (training && !override) chains = norm_chains(graph_);
  for (NormChain& c : chains)  // they take the statistics of the batch
    if (c.norm >= 0 && is_frozen(c.norm)) c = {};
  std::vector<int> last(nodes.size(), -1);
  for (const NormChain& c : chains)
    for (const int node : c.nodes()) last[static_cast<std::size_t>(node)] = c.last();
  const auto release = [&](std::size_t node) {
    for (const int input : nodes[node].inputs)
      if (--uses[static_cast<std::size_t>(input)] == 0)
        values[static_cast<std::size_t>(input)].reset();
  };
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (uses[i] == 0) continue;
    if (last[i] >= 0) {
      const auto end = static_cast<std::size_t>(last[i]);
      const NormChain& chain = chains[end];
      if (static_cast<int>(i) == chain.first())
        waits[end] = has_norm_activation(values[static_cast<std::size_t>(nodes[i].inputs[0])]);
      if (waits[end]) {
        if (i != end) continue;
        const BatchNormOptions norm =
            chain.norm >= 0 ? batch_norm_options(chain.norm) : BatchNormOptions{};
        values[i] = run_chain(chain, norm, nodes, layers_, values);
        for (const int node : chain.nodes()) release(static_cast<std::size_t>(node));
        continue;
      }
    }
    if (override) values[i] = override(static_cast<int>(i), values);
    if (!values[i].defined()) values[i] = run_node(static_cast<int>(i), values, training);
    release(i);
  }
  std::vector<at::Tensor> result;
  for (const int w : outputs) result.push_back(values[static_cast<std::size_t>(w)]);
  return result;
}

std::vector<at::Tensor> Network::forward(const at::Tensor& images,
                                         std::span<const std::string> taps) {
  std::vector<int> outputs;
  for (const std::string& tap : taps) outputs.push_back(graph_.tap_node(tap));
  std::vector<at::Tensor> result = run(images, outputs, training_);
  if (training_) ++dropout_step_;
  return result;
}

at::Tensor Network::forward(const at::Tensor& images, std::string_view tap) {
  const std::string name(tap);
  return forward(images, std::span<const std::string>(&name, 1)).front();
}

at::Tensor Network::infer(const at::Tensor& images, std::string_view tap) const {
  const c10::NoGradGuard no_grad;
  const int outputs = graph_.tap_node(tap);
  return run(images, std::span<const int>(&outputs, 1), false).front();
}

at::Tensor input_on(const at::Tensor& input, at::Device device, at::ScalarType dtype) {
  return input.is_floating_point() ? input.to(device, dtype) : input.to(device);
}

Network fold_batch_norm(const Network& network) {
  const c10::NoGradGuard no_grad;
  FoldedGraph folded = fold_batch_norm(network.graph());
  std::unordered_map<std::string, at::Tensor> old;
  for (const NamedTensor& t : network.tensors()) old.emplace(t.name, t.tensor);
  const auto given = [&](const std::string& name) {
    const auto it = old.find(name);
    return it == old.end() ? at::Tensor() : it->second.detach().to(at::kDouble);
  };
  for (const FoldedNorm& f : folded.folds) {
    at::Tensor s = at::rsqrt(given(f.norm + ".running_var") + f.options.eps);
    if (f.options.scale) s = s * given(f.norm + ".weight");
    const at::Tensor weight = given(f.layer + ".weight");
    std::vector<std::int64_t> per_output(static_cast<std::size_t>(weight.dim()), 1);
    per_output[0] = -1;
    at::Tensor bias = -given(f.norm + ".running_mean");
    if (f.layer_had_bias) bias = bias + given(f.layer + ".bias");
    bias = bias * s;
    if (f.options.shift) bias = bias + given(f.norm + ".bias");
    old[f.layer + ".weight"] = weight * s.reshape(per_output);
    old[f.layer + ".bias"] = bias;
  }
  std::vector<NamedTensor> tensors;
  for (const TensorSpec& spec : folded.graph.tensors())
    tensors.push_back({spec.name, old.at(spec.name)});
  Network result(std::move(folded.graph), Network::Uninitialized{});
  result.to(network.device(), network.dtype());
  result.load(tensors, "network");
  result.train(false);
  return result;
}

}  // namespace facebench
