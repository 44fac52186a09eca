#pragma once

#include <string>

#include "facebench/nn/networks.h"

// What the builders of several networks share.
namespace facebench {

// Convolution with bias and ReLU, as in networks older than batch norm.
Value conv_relu(Graph& g, const std::string& name, Value x, ConvOptions options);

// A bias-free convolution NAME.conv, batch norm NAME.bn with eps 0.001, ReLU: the unit of the
// Inception family. Slim's batch norms have no scale.
Value conv_bn_relu(Graph& g, const std::string& name, Value x, const ConvOptions& options,
                   bool scale = true);

// TensorFlow's padding "SAME": ceil(size / stride) positions, the odd pixel after the image.
Padding same_padding(const Shape& x, Size2 kernel, Size2 stride);

// Taps the embedding: `features`, a vector, as they are, or a linear layer "embedding" behind them
// where another length was asked for. Returns it.
Value tap_embedding(Graph& g, Value features, const NetworkOptions& options);

// Dropout with its tap "classifier_input" where there is one, and where there are classes the
// classifier called `name` with the tap "logits".
void tap_logits(Graph& g, const std::string& name, Value embedding, const NetworkOptions& options,
                double dropout = 0, bool bias = true);

// Taps "auxN": what an auxiliary classifier reads, or where there are classes that classifier's
// scores.
void tap_auxiliary(Graph& g, int head, const std::string& name, Value features,
                   const NetworkOptions& options);

// Both hidden layers of AlexNet and VGG, each with ReLU and dropout behind it, and the classifier.
// Taps: "fc7" before its ReLU, "fc7_relu" and "embedding" after.
struct HiddenLayers {
  std::string fc6, fc7, classifier;
  bool dropout_first = false;  // dropout before the two layers rather than after
  double dropout = 0.5;
};
void classifier_of_two_hidden_layers(Graph& g, Value x, const HiddenLayers& names,
                                     const NetworkOptions& options);

}  // namespace facebench
