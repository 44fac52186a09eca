#include "facebench/training/internal/sum_gradients.h"

#include <vector>

namespace facebench {

void sum_gradients(std::span<const PartialTensor> parameters, Communicator& communicator) {
  // Which parameters have one is the same on all ranks: the graph decides it.
  std::vector<at::Tensor> gradients;
  for (const PartialTensor& p : parameters)
    if (!p.split() && p.tensor.grad().defined()) gradients.push_back(p.tensor.grad());
  communicator.all_reduce(gradients);
}

}  // namespace facebench
