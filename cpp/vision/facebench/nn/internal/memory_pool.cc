#include "facebench/nn/internal/memory_pool.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>

namespace facebench {
namespace {

constexpr std::size_t kPage = std::size_t{4} << 10;

std::size_t whole_pages(std::size_t bytes, std::size_t page) {
  return (bytes + page - 1) / page * page;
}

// Large where rounding adds at most a quarter.
std::size_t page_of(std::size_t bytes) {
  return whole_pages(bytes, MemoryPool::kLargePage) <= bytes + bytes / 4 ? MemoryPool::kLargePage
                                                                         : kPage;
}

// So many bytes in whole pages of that size.
void* from_system(std::size_t bytes, std::size_t page) {
  void* memory = std::aligned_alloc(page, bytes);
#ifdef __linux__
  // A wish; nothing is lost where it is refused.
  if (memory && page == MemoryPool::kLargePage) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

}  // namespace

MemoryPool::~MemoryPool() { release_free(); }

void* MemoryPool::take(std::size_t bytes) {
  const std::size_t page = page_of(bytes);
  bytes = whole_pages(bytes, page);
  const std::lock_guard lock(mutex_);
  void* memory = nullptr;
  if (const auto found = free_.lower_bound(bytes);
      found != free_.end() && found->first <= bytes + bytes / 4) {
    bytes = found->first;
    memory = found->second.memory;
    free_bytes_ -= bytes;
    free_.erase(found);
  } else if (memory = from_system(bytes, page); !memory && !free_.empty()) {
    release_free();
    memory = from_system(bytes, page);
  }
  if (!memory) return nullptr;
  used_.emplace(memory, bytes);
  used_bytes_ += bytes;
  most_used_ = std::max(most_used_, used_bytes_);
  release_beyond(2 * most_used_);
  return memory;
}

bool MemoryPool::give_back(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(memory);
  if (found == used_.end()) return false;
  const std::size_t bytes = found->second;
  used_.erase(found);
  used_bytes_ -= bytes;
  if (!keep_) {
    std::free(memory);
    return true;
  }
  free_.emplace(bytes, Free{memory, clock_++});
  free_bytes_ += bytes;
  return true;
}

void MemoryPool::keep(bool on) {
  const std::lock_guard lock(mutex_);
  keep_ = on;
  if (!on) release_free();
  most_used_ = used_bytes_;
}

std::size_t MemoryPool::held() {
  const std::lock_guard lock(mutex_);
  return used_bytes_ + free_bytes_;
}

void MemoryPool::release_free() {
  for (const auto& [bytes, block] : free_) std::free(block.memory);
  free_.clear();
  free_bytes_ = 0;
}

void MemoryPool::release_beyond(std::size_t bytes) {
  while (used_bytes_ + free_bytes_ > bytes && !free_.empty()) {
    const auto oldest =
        std::ranges::min_element(free_, {}, [](const auto& entry) { return entry.second.since; });
    free_bytes_ -= oldest->first;
    std::free(oldest->second.memory);
    free_.erase(oldest);
  }
}

}  // namespace facebench
