#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

namespace facebench {

// Large blocks of memory, kept when they are given back. The system's allocator returns such blocks
// at once and gets them again page by page, set to zero, which takes longer than filling them.
// It holds at most twice what was taken at once: of what is free, the longest unused goes. With
// less, the steps of a shallow network, whose few blocks are large, push out each time what they
// ask for next. Safe to use from several threads.
class MemoryPool {
 public:
  // Of smaller ones little is gained.
  static constexpr std::size_t kSmallest = std::size_t{1} << 20;
  static constexpr std::size_t kLargePage = std::size_t{2} << 20;

  MemoryPool() = default;
  ~MemoryPool();  // blocks that are in use then are never released
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // At least so many bytes, aligned to 64. Null where the system has none left.
  void* take(std::size_t bytes);
  // False for memory that is not of this pool; then nothing happens.
  bool give_back(void* memory);
  // Whether blocks that are given back are kept, from the start on; turned off, the free ones are
  // released.
  void keep(bool on);

  // Bytes in use and free.
  std::size_t held();

  // fork() in another thread would leave the lock held for ever.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct Free {
    void* memory;
    std::uint64_t since;  // counts what was given back
  };
  void release_free();
  void release_beyond(std::size_t bytes);

  std::mutex mutex_;
  std::multimap<std::size_t, Free> free_;  // by size
  std::unordered_map<void*, std::size_t> used_;
  std::size_t free_bytes_ = 0, used_bytes_ = 0, most_used_ = 0;
  std::uint64_t clock_ = 0;
  bool keep_ = true;
};

}  // namespace facebench
