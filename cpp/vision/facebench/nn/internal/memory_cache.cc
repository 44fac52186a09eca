#include "facebench/nn/internal/memory_cache.h"

#include <new>

#include "facebench/nn/internal/aten.h"

namespace facebench {

at::Tensor MemoryCache::empty(const c10::intrusive_ptr<MemoryCache>& cache, at::IntArrayRef size) {
  const at::TensorOptions options(at::kFloat);
  std::size_t bytes = sizeof(float);
  for (const std::int64_t n : size) bytes *= static_cast<std::size_t>(n);
  if (bytes < MemoryPool::kSmallest) return at::empty(size, options);
  void* memory = cache->pool_.take(bytes);
  if (!memory) throw std::bad_alloc();
  return at::from_blob(
      memory, size, [cache](void* block) { cache->pool_.give_back(block); }, options);
}

at::Tensor in_large_pages(std::int64_t floats) {
  constexpr std::int64_t page = MemoryPool::kLargePage / sizeof(float);
  if (floats > page / 2) floats = (floats + page - 1) / page * page;
  return MemoryCache::empty(c10::make_intrusive<MemoryCache>(), {floats});
}

}  // namespace facebench
