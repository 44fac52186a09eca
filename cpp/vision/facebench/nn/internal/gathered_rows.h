#pragma once

#include <ATen/core/Tensor.h>

#include "facebench/nn/communicator.h"

namespace facebench {

// Rows of all processes: the first of each process by rank, then the second of each, and so on. As
// each process takes every P-th image of a batch, that is the order of the batch.
struct GatheredRows {
  at::Tensor rows;
  at::Tensor own;  // int64: where this process's rows are
};

// What each process adds to the gradient of the gathered rows.
enum class GradientParts {
  equal,   // all of it: each process computes the same
  summed,  // a part: the gradient is the sum over the processes
};

// Rows (n, D) floating point, n >= 0 of each process. The gathered rows are float32 where `rows`
// are shorter, and so is the sum of their gradients. Collective, and so is its backward pass.
GatheredRows gather_rows(const at::Tensor& rows, Communicator& processes, GradientParts parts);

// The same without gradient, for tensors of any type.
at::Tensor gather_values(const at::Tensor& rows, Communicator& processes);

}  // namespace facebench
