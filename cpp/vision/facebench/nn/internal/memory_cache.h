#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "facebench/nn/internal/memory_pool.h"

namespace facebench {

// Memory of large tensors that one owner allocates in every step. It lives as long as its owner and
// all of its tensors. Safe to use from several threads.
class MemoryCache : public torch::CustomClassHolder {
 public:
  // A dense float32 tensor on the CPU, not initialised.
  static at::Tensor empty(const c10::intrusive_ptr<MemoryCache>& cache, at::IntArrayRef size);

 private:
  MemoryPool pool_;
};

}  // namespace facebench
