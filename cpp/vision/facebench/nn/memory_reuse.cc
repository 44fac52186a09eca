#include "facebench/nn/memory_reuse.h"

#include <c10/core/CPUAllocator.h>
#include <pthread.h>

#include <atomic>
#include <mutex>

#include "facebench/nn/internal/memory_pool.h"

namespace facebench {
namespace {

// Stands before torch's own allocator for as long as the process lives: tensors keep a pointer to
// the function that frees them.
class ReusingAllocator final : public c10::Allocator {
 public:
  static ReusingAllocator& instance() {
    static auto* allocator = new ReusingAllocator(*c10::GetCPUAllocator());
    return *allocator;
  }

  c10::DataPtr allocate(std::size_t bytes) override {
    void* memory = on_ && bytes >= MemoryPool::kSmallest ? pool_.take(bytes) : nullptr;
    if (!memory) memory = before_.raw_allocate(bytes);  // throws where there is none left
    return {memory, memory, &release, at::Device(at::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  void turn(bool on) {
    const std::lock_guard lock(turning_);
    users_ += on ? 1 : -1;
    if (users_ != (on ? 1 : 0)) return;
    pool_.keep(on);
    on_ = on;
  }

 private:
  explicit ReusingAllocator(c10::Allocator& before) : before_(before) {
    // Without such a function of its own memory cannot be asked for in this form; then all stays.
    if (!before.raw_deleter()) return;
    pthread_atfork([] { instance().pool_.lock(); }, [] { instance().pool_.unlock(); },
                   [] { instance().pool_.unlock(); });
    c10::SetCPUAllocator(this);
  }

  static void release(void* memory) {
    ReusingAllocator& a = instance();
    if (memory && !a.pool_.give_back(memory)) a.before_.raw_deallocate(memory);
  }

  c10::Allocator& before_;
  MemoryPool pool_;
  std::atomic<bool> on_ = false;
  std::mutex turning_;
  int users_ = 0;
};

}  // namespace

MemoryReuse::MemoryReuse() { ReusingAllocator::instance().turn(true); }
MemoryReuse::~MemoryReuse() { ReusingAllocator::instance().turn(false); }

}  // namespace facebench
