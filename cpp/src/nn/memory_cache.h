#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <mutex>

namespace facebench {

// Memory for large tensors that come and go in every step. The system's allocator hands such blocks
// back at once and fetches them again page by page, zeroed, which takes longer than filling them.
// Blocks are used again here, and freed with the cache, which lives as long as its owner and the
// longest of its tensors. Safe to use from several threads.
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
