#include "nn/memory_cache.h"

#include <ATen/ATen.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdlib>
#include <new>

namespace facebench {
namespace {

constexpr std::size_t kPage = std::size_t{2} << 20;  // a large page of memory
constexpr std::size_t kSmallest = std::size_t{1} << 20;
constexpr std::size_t kMostFree = 4;  // blocks: enough for the tensors of one step

}  // namespace

MemoryCache::~MemoryCache() {
  for (const auto& [bytes, memory] : free_) std::free(memory);
}

MemoryCache::Block MemoryCache::take(std::size_t bytes) {
  bytes = (bytes + kPage - 1) / kPage * kPage;
  {
    const std::lock_guard lock(mutex_);
    const auto found = free_.lower_bound(bytes);
    if (found != free_.end() && found->first / 2 <= bytes) {
      const Block block{found->second, found->first};
      free_.erase(found);
      return block;
    }
  }
  void* memory = std::aligned_alloc(kPage, bytes);
  if (!memory) throw std::bad_alloc();
#ifdef __linux__
  madvise(memory, bytes, MADV_HUGEPAGE);  // a wish; nothing is lost where it is refused
#endif
  return {memory, bytes};
}

void MemoryCache::give_back(Block block) {
  const std::lock_guard lock(mutex_);
  free_.emplace(block.bytes, block.memory);
  if (free_.size() <= kMostFree) return;
  std::free(free_.begin()->second);
  free_.erase(free_.begin());
}

at::Tensor MemoryCache::empty(const c10::intrusive_ptr<MemoryCache>& cache, at::IntArrayRef size) {
  const at::TensorOptions options(at::kFloat);
  std::size_t bytes = sizeof(float);
  for (const std::int64_t n : size) bytes *= static_cast<std::size_t>(n);
  if (bytes < kSmallest) return at::empty(size, options);
  const Block block = cache->take(bytes);
  return at::from_blob(
      block.memory, size, [cache, block](void*) { cache->give_back(block); }, options);
}

}  // namespace facebench
