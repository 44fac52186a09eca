#include "facebench/training/head_memory.h"

#include <cmath>

namespace facebench {

HeadMemory head_memory(const Head& head, std::int64_t images, int moments, bool early) {
  const HeadShape& shape = head.shape();
  const bool sampled = shape.sample_rate < 1;
  HeadMemory memory;
  std::int64_t rows = shape.classes;
  for (const PartialTensor& p : head.parameters()) {
    const auto bytes = static_cast<std::int64_t>(p.tensor.nbytes());
    memory.parameters += bytes;
    memory.momentum += moments * bytes;
    // A sample's rows are gathered for the step; the update gathers them again, with the momentum.
    double copies = p.split() && sampled ? (3 + moments) * shape.sample_rate : 1;
    if (early && head.updates_in_backward() && p.tensor.is_same(head.class_weight())) copies = 0;
    memory.gradients += std::llround(copies * static_cast<double>(bytes));
    if (!p.split()) continue;
    rows = p.tensor.size(0) * shape.classes / p.total;
    memory.first_class = p.first * shape.classes / p.total;
  }
  for (const HeadBuffer& b : head.buffers())
    memory.parameters += static_cast<std::int64_t>(b.tensor.nbytes());
  memory.classes = rows;
  const auto in_step = static_cast<double>(rows) * shape.sample_rate;
  const auto value = static_cast<std::int64_t>(c10::elementSize(shape.dtype));
  // In tiles a byte says which of several centres a logit is of.
  const bool several = head.class_weight().defined() && head.class_weight().size(0) > rows;
  memory.logits = std::llround(in_step) * images * (value + (several ? 1 : 0));
  memory.features = 2 * images * shape.features * value;
  return memory;
}

}  // namespace facebench
