#include "training/sum_gradients.h"

#include <vector>

namespace facebench {

void sum_gradients(std::span<const NamedTensor> parameters, Communicator& communicator) {
  // Which parameters have one is the same on all ranks: the graph decides it.
  std::vector<at::Tensor> gradients;
  for (const NamedTensor& p : parameters)
    if (p.tensor.grad().defined()) gradients.push_back(p.tensor.grad());
  communicator.all_reduce(gradients);
}

}  // namespace facebench
