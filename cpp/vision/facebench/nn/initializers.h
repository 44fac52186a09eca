#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "facebench/core/registry.h"
#include "facebench/nn/graph.h"

namespace facebench {

// How the weights of convolutions and fully connected layers start. Batch norm starts at scale 1,
// shift 0, mean 0, variance 1, PReLU slopes at 0.25 and vectors of words normal
// (torch.nn.Embedding) with all of them.
struct InitializerEntry {
  std::string name;
  std::string doc;
  std::string source;
  // Fills a weight or a bias of a convolution, linear or LSTM layer.
  void (*fill)(const TensorSpec& spec, std::uint64_t seed, std::span<float> values);
};

const Table<InitializerEntry>& initializers();

// Fills one tensor. The numbers depend on the initialiser, `seed`, the tensor's name and its shape
// alone, not on the order in which tensors are filled. Throws std::invalid_argument for an unknown
// initialiser or where values.size() is not the tensor's size.
void initialize(const TensorSpec& spec, std::string_view initializer, std::uint64_t seed,
                std::span<float> values);

}  // namespace facebench
