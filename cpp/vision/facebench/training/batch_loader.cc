#include "facebench/training/batch_loader.h"

#include <stdexcept>
#include <system_error>
#include <utility>

#include "facebench/nn/internal/aten.h"

namespace facebench {

BatchLoader::BatchLoader(const ImageSource& images, const std::vector<std::int64_t>& labels,
                         const Sampler& sampler, Settings settings, std::int64_t first,
                         std::int64_t last)
    : images_(images),
      labels_(labels),
      sampler_(sampler),
      settings_(std::move(settings)),
      last_(last),
      ahead_(2 * std::int64_t{settings_.threads} + 1),
      claimed_(first),
      consumed_(first) {
  try {
    for (int i = 0; i < settings_.threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {  // no more may be started: those that were do the work
  }
}

BatchLoader::~BatchLoader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  taken_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Batch BatchLoader::next() {
  if (consumed_ >= last_) throw std::out_of_range("batch loader: past the last batch");
  if (threads_.empty()) return make(consumed_++);
  std::unique_lock lock(mutex_);
  made_.wait(lock, [this] { return ready_.contains(consumed_); });
  Result result = std::move(ready_.extract(consumed_).mapped());
  ++consumed_;
  lock.unlock();
  taken_.notify_all();
  if (result.failure) std::rethrow_exception(result.failure);
  return std::move(result.batch);
}

void BatchLoader::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    taken_.wait(lock,
                [this] { return stop_ || claimed_ >= last_ || claimed_ < consumed_ + ahead_; });
    if (stop_ || claimed_ >= last_) return;
    const std::int64_t iteration = claimed_++;
    lock.unlock();
    Result result;
    try {
      result.batch = make(iteration);
    } catch (...) {
      result.failure = std::current_exception();
    }
    lock.lock();
    ready_.emplace(iteration, std::move(result));
    made_.notify_one();
  }
}

Batch BatchLoader::make(std::int64_t iteration) const {
  std::vector<Sampler::Slot> slots = sampler_.batch(iteration);
  if (settings_.ranks > 1) {
    std::vector<Sampler::Slot> slots_here;
    for (auto i = static_cast<std::size_t>(settings_.rank); i < slots.size();
         i += static_cast<std::size_t>(settings_.ranks))
      slots_here.push_back(slots[i]);
    slots = std::move(slots_here);
  }
  const auto n = static_cast<std::int64_t>(slots.size());
  const ImageShape shape = settings_.input.input();
  const std::int64_t channels = settings_.scale.channels();
  at::Tensor images = at::empty(
      {n, channels, shape.height, shape.width}, at::TensorOptions(at::kFloat),
      settings_.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
  at::Tensor labels = at::empty({n}, at::TensorOptions(at::kLong));
  float* out = images.data_ptr<float>();
  std::int64_t* label = labels.data_ptr<std::int64_t>();
  for (const Sampler::Slot& slot : slots) {
    const Variation variation = draw_variation(settings_.augmentation, settings_.input,
                                               settings_.seed, slot.epoch, slot.sample);
    write_variation(images_.pixels(slot.sample), settings_.input, variation, settings_.scale,
                    settings_.channels_last, out);
    out += channels * shape.height * shape.width;
    *label++ = labels_[static_cast<std::size_t>(slot.sample)];
  }
  return {std::move(images), std::move(labels)};
}

}  // namespace facebench
