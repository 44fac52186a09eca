#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/nn/graph.h"

namespace facebench {

// How published tables count the numbers of a network:
//   parameters        every learned number;
//   caffe_first_blob  the first blob of each Caffe layer: weights of convolutions and fully
//                     connected layers and PReLU slopes, no biases; of a batch norm the mean (first
//                     blob of BatchNorm) and the scale (first blob of Scale);
//   weights           weights of convolutions and fully connected layers alone.
enum class CountRule : std::uint8_t { parameters, caffe_first_blob, weights };
// Throws std::invalid_argument with "did you mean".
CountRule parse_count_rule(std::string_view name);
std::vector<std::string> count_rule_names();

std::int64_t count_parameters(const Graph& graph, CountRule rule = CountRule::parameters);
// Multiply-accumulates of convolutions and fully connected layers for one image (biases, norms,
// activations and pooling not counted). FLOP in the usual sense are twice that.
std::int64_t count_macs(const Graph& graph);
std::int64_t node_macs(const Graph& graph, const Node& node);
// Numbers that all nodes put out together for one image (views and the input not counted).
std::int64_t count_activations(const Graph& graph);
// Bytes for one image that a training step holds when its forward pass is done: what the executor's
// operations keep for the backward pass, the input among them. The classifier's own loss, weights
// and gradients come on top. `element` is the size of a number, 4 in float32.
std::int64_t training_activation_bytes(const Graph& graph, std::int64_t element = 4);
// The most numbers alive at once for one image when each is dropped after its last use.
std::int64_t peak_activations(const Graph& graph);

// A table for people: one line a node (name, operation, output, parameters, multiply-accumulates),
// the taps, the totals.
std::string summary(const Graph& graph);

}  // namespace facebench
