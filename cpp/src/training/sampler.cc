#include "facebench/training/sampler.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "facebench/core/random.h"
#include "facebench/core/registry.h"

namespace facebench {

LastBatch parse_last_batch(std::string_view name) {
  if (name == "wrap") return LastBatch::wrap;
  if (name == "keep") return LastBatch::keep;
  if (name == "drop") return LastBatch::drop;
  const std::vector<std::string> known{"wrap", "keep", "drop"};
  throw std::invalid_argument(unknown_name_message("last batch", name, known));
}

Sampler::Sampler(std::vector<std::int64_t> samples, std::uint64_t seed, std::int64_t batch,
                 LastBatch last_batch)
    : samples_(std::move(samples)), seed_(seed), batch_(batch), last_batch_(last_batch) {
  if (samples_.empty()) throw std::invalid_argument("sampler: no samples");
  if (batch_ < 1) throw std::invalid_argument("sampler: a batch needs at least one image");
  const std::int64_t n = this->samples();
  whole_ = last_batch_ == LastBatch::drop ? n / batch_ : (n + batch_ - 1) / batch_;
  if (whole_ == 0)
    throw std::invalid_argument("sampler: a batch of " + std::to_string(batch_) + " from " +
                                std::to_string(n) +
                                " images, with the last batch dropped, leaves none; use a smaller "
                                "batch, or keep or wrap the last one");
}

double Sampler::iterations_per_epoch() const {
  if (last_batch_ != LastBatch::wrap) return static_cast<double>(whole_);
  return static_cast<double>(samples()) / static_cast<double>(batch_);
}

std::int64_t Sampler::iterations(std::int64_t epochs) const {
  if (last_batch_ != LastBatch::wrap) return epochs * whole_;
  return (epochs * samples() + batch_ - 1) / batch_;
}

std::int64_t Sampler::epoch(std::int64_t iteration) const {
  return last_batch_ == LastBatch::wrap ? iteration * batch_ / samples() : iteration / whole_;
}

std::vector<Sampler::Slot> Sampler::batch(std::int64_t iteration) const {
  std::vector<Slot> slots;
  const std::int64_t n = samples();
  // Where in the endless row of epochs the batch begins and ends.
  std::int64_t first = iteration * batch_, last = first + batch_;
  if (last_batch_ != LastBatch::wrap) {
    const std::int64_t epoch = iteration / whole_;
    first = epoch * n + iteration % whole_ * batch_;
    last = std::min(first + batch_, (epoch + 1) * n);
  }
  slots.reserve(static_cast<std::size_t>(last - first));
  const std::lock_guard lock(mutex_);
  while (first < last) {
    const std::int64_t epoch = first / n;
    const std::vector<std::int64_t>& order = this->order(epoch);
    for (; first < last && first < (epoch + 1) * n; ++first)
      slots.push_back({order[static_cast<std::size_t>(first % n)], epoch});
  }
  return slots;
}

const std::vector<std::int64_t>& Sampler::order(std::int64_t epoch) const {
  Order& cached = orders_[epoch % 2];
  if (cached.epoch != epoch) {
    cached.samples = samples_;
    Random random(seed_, "shuffle", {static_cast<std::uint64_t>(epoch)});
    shuffle(cached.samples, random);
    cached.epoch = epoch;
  }
  return cached.samples;
}

}  // namespace facebench
