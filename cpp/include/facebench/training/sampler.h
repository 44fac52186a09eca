#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

namespace facebench {

// What becomes of the images left over when an epoch is not a whole number of batches.
enum class LastBatch {
  wrap,  // the batch is filled from the next epoch, which goes on from there (Caffe)
  keep,  // a smaller batch (PyTorch)
  drop,  // they wait for another epoch (TensorFlow)
};
LastBatch parse_last_batch(std::string_view name);  // std::invalid_argument with "did you mean"

// Which images make up which batch. Every epoch is a permutation of all samples drawn from
// (seed, epoch), so a batch is known from its number alone: there is nothing to store for a resume,
// and batches can be asked for in any order, by several threads.
class Sampler {
 public:
  struct Slot {
    std::int64_t sample;  // index of the image source
    std::int64_t epoch;   // which pass over the data this is
    bool operator==(const Slot&) const = default;
  };

  // Throws std::invalid_argument where no sample, or with drop no whole batch, is there.
  Sampler(std::vector<std::int64_t> samples, std::uint64_t seed, std::int64_t batch,
          LastBatch last_batch);

  std::int64_t samples() const { return static_cast<std::int64_t>(samples_.size()); }
  // With wrap not a whole number in general.
  double iterations_per_epoch() const;
  // Iterations that complete `epochs` epochs.
  std::int64_t iterations(std::int64_t epochs) const;
  // The epoch that the first image of an iteration belongs to.
  std::int64_t epoch(std::int64_t iteration) const;
  std::vector<Slot> batch(std::int64_t iteration) const;

 private:
  const std::vector<std::int64_t>& order(std::int64_t epoch) const;

  std::vector<std::int64_t> samples_;
  std::uint64_t seed_;
  std::int64_t batch_;
  LastBatch last_batch_;
  std::int64_t whole_ = 0;  // iterations of an epoch where that is a whole number
  // The permutations of the two epochs asked for last.
  struct Order {
    std::int64_t epoch = -1;
    std::vector<std::int64_t> samples;
  };
  mutable std::mutex mutex_;
  mutable Order orders_[2];
};

}  // namespace facebench
