#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <mutex>

namespace facebench {

// Reuses the memory of large tensors that are allocated in every step. The system's allocator
// returns such blocks at once and gets them again page by page, set to zero, which takes longer
// than filling them. The cache keeps the blocks, and lives as long as its owner and all of its
// tensors. Safe to use from several threads.
class MemoryCache : public torch::CustomClassHolder {
 public:
  MemoryCache() = default;
  ~MemoryCache() override;
  MemoryCache(const MemoryCache&) = delete;
  MemoryCache& operator=(const MemoryCache&) = delete;

  // A dense float32 tensor on the CPU, not initialised.
  static at::Tensor empty(const c10::intrusive_ptr<MemoryCache>& cache, at::IntArrayRef size);

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
  };
  Block take(std::size_t bytes);
  void give_back(Block block);

  std::mutex mutex_;
  std::multimap<std::size_t, void*> free_;
};

}  // namespace facebench
