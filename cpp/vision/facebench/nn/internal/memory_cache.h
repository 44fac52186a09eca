#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>

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

// So many floats at least, not initialised, in memory of their own: whole large pages, which a
// processor finds faster, from half of one on.
at::Tensor in_large_pages(std::int64_t floats);

}  // namespace facebench
