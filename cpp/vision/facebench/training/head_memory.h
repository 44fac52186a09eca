#pragma once

#include <cstdint>

#include "facebench/nn/head.h"

namespace facebench {

// Bytes that a head takes in one process during a step, beside the network and the images.
struct HeadMemory {
  std::int64_t first_class = 0, classes = 0;  // that the process holds
  std::int64_t parameters = 0;                // and buffers, such as centres
  std::int64_t momentum = 0;                  // what the optimizer keeps; of Adam both moments
  // Of the classes of a step, where they are stored; where they are sampled, with their rows of
  // parameters and momentum.
  std::int64_t gradients = 0;
  std::int64_t logits = 0;    // and, in tiles, which of a class's several centres each is of
  std::int64_t features = 0;  // of all processes' images, and their gradient

  std::int64_t total() const { return parameters + momentum + gradients + logits + features; }
};

// Of batches of `images` images, of all processes, with an optimizer that keeps so many moments of
// each weight. `early`: the class weights are changed in the backward pass (Optimizer::backward).
HeadMemory head_memory(const Head& head, std::int64_t images, int moments = 1, bool early = false);

}  // namespace facebench
