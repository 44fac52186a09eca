#include "facebench/nn/networks/parts.h"

#include <algorithm>

namespace facebench {
namespace {

constexpr std::int64_t kHidden = 4096;

}  // namespace

Value conv_relu(Graph& g, const std::string& name, Value x, ConvOptions options) {
  options.bias = true;
  return g.relu(g.conv(name, x, options));
}

Value conv_bn_relu(Graph& g, const std::string& name, Value x, const ConvOptions& options,
                   bool scale) {
  return g.relu(g.batch_norm(name + ".bn", g.conv(name + ".conv", x, options),
                             {.eps = 0.001, .scale = scale}));
}

Padding same_padding(const Shape& x, Size2 kernel, Size2 stride) {
  const auto total = [](std::int64_t size, std::int64_t k, std::int64_t s) {
    const std::int64_t positions = (size + s - 1) / s;
    return std::max<std::int64_t>((positions - 1) * s + k - size, 0);
  };
  const std::int64_t h = total(x[1], kernel.height, stride.height);
  const std::int64_t w = total(x[2], kernel.width, stride.width);
  return {h / 2, w / 2, h - h / 2, w - w / 2};
}

Value tap_embedding(Graph& g, Value features, const NetworkOptions& o) {
  if (g.shape(features)[0] != *o.embedding)
    features = g.linear("embedding", features, {.out = *o.embedding});
  g.tap("embedding", features);
  return features;
}

void tap_logits(Graph& g, const std::string& name, Value embedding, const NetworkOptions& o,
                double dropout, bool bias) {
  if (dropout > 0) {
    embedding = g.dropout(embedding, dropout);
    g.tap("classifier_input", embedding);
  }
  if (o.classes == 0) return;
  g.tap("logits", g.linear(name, embedding, {.out = o.classes, .bias = bias}));
}

void tap_auxiliary(Graph& g, int head, const std::string& name, Value features,
                   const NetworkOptions& o) {
  if (o.classes > 0) features = g.linear(name, features, {.out = o.classes});
  g.tap("aux" + std::to_string(head), features);
}

void classifier_of_two_hidden_layers(Graph& g, Value x, const HiddenLayers& names,
                                     const NetworkOptions& o) {
  const auto dropout = [&](Value v) { return names.dropout > 0 ? g.dropout(v, names.dropout) : v; };
  if (names.dropout_first) x = dropout(x);
  x = g.relu(g.linear(names.fc6, x, {.out = kHidden}));
  x = g.linear(names.fc7, dropout(x), {.out = *o.embedding});
  g.tap("fc7", x);
  x = g.relu(x);
  g.tap("fc7_relu", x);
  g.tap("embedding", x);
  tap_logits(g, names.classifier, x, o, names.dropout_first ? 0 : names.dropout);
}

}  // namespace facebench
