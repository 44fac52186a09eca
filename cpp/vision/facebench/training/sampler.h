#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"

namespace facebench {

// What becomes of the images left over when an epoch is not a whole number of batches.
enum class LastBatch {
  wrap,  // the batch is filled from the next epoch, which goes on from there (Caffe)
  keep,  // a smaller batch (PyTorch)
  drop,  // they wait for another epoch (TensorFlow)
};
LastBatch parse_last_batch(std::string_view name);  // std::invalid_argument with "did you mean"

// Which images make up which batch. A batch is known from its number alone: there is nothing to
// store for a resume, and batches can be asked for in any order, by several threads.
class Sampler {
 public:
  struct Slot {
    std::int64_t sample;  // index of the image source
    std::int64_t epoch;   // which use of this sample it is; a variation is drawn for each
    bool operator==(const Slot&) const = default;
  };

  virtual ~Sampler() = default;
  virtual std::vector<Slot> batch(std::int64_t iteration) const = 0;
  // How many images that batch has, over all processes.
  virtual std::int64_t batch_size(std::int64_t iteration) const = 0;
  // With wrap not a whole number in general.
  virtual double iterations_per_epoch() const = 0;
  // Iterations that complete `epochs` epochs.
  virtual std::int64_t iterations(std::int64_t epochs) const = 0;
  // The epoch that the first image of an iteration belongs to.
  virtual std::int64_t epoch(std::int64_t iteration) const = 0;
};

// Every epoch is a permutation of all samples, drawn from (seed, epoch).
class ShuffleSampler : public Sampler {
 public:
  // Throws std::invalid_argument where no sample, or with drop no whole batch, is there.
  ShuffleSampler(std::vector<std::int64_t> samples, std::uint64_t seed, std::int64_t batch,
                 LastBatch last_batch);

  std::int64_t samples() const { return static_cast<std::int64_t>(samples_.size()); }
  double iterations_per_epoch() const override;
  std::int64_t iterations(std::int64_t epochs) const override;
  std::int64_t epoch(std::int64_t iteration) const override;
  std::int64_t batch_size(std::int64_t iteration) const override;
  std::vector<Slot> batch(std::int64_t iteration) const override;

 private:
  // Where a batch begins and ends in the endless sequence of epochs.
  std::pair<std::int64_t, std::int64_t> range(std::int64_t iteration) const;
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

// Epochs of as many whole batches as there are images.
class EvenSampler : public Sampler {
 public:
  double iterations_per_epoch() const override { return static_cast<double>(whole_); }
  std::int64_t iterations(std::int64_t epochs) const override { return epochs * whole_; }
  std::int64_t epoch(std::int64_t iteration) const override { return iteration / whole_; }
  std::int64_t batch_size(std::int64_t) const override { return batch_; }

 protected:
  // Throws std::invalid_argument where a batch or its people have no image.
  EvenSampler(std::int64_t images, std::int64_t batch, std::int64_t images_per_person);
  std::int64_t images_per_person() const { return images_per_person_; }

 private:
  std::int64_t batch_, images_per_person_, whole_;
};

// Batches of P different people with K images each, however many images a person has: losses that
// compare the images of a batch need them, and they keep people with many images from dominating.
// People come in the order of ShuffleSampler with batches of P and the last one dropped; each time
// a person comes, the next K images of that person's own endless shuffled sequence are taken, so
// that all are used equally often (one comes twice in a batch where there are fewer than K). An
// epoch is as many whole batches as there are images.
// Source: Hermans et al., "In defense of the triplet loss", 2017, section 2 (PK batches).
class BalancedSampler : public EvenSampler {
 public:
  // `labels`: the class of each sample of the source, indexed by sample. Throws
  // std::invalid_argument where `batch` is not a multiple of `images_per_person`, or there are
  // fewer people than a batch needs.
  BalancedSampler(const std::vector<std::int64_t>& samples, const std::vector<std::int64_t>& labels,
                  std::uint64_t seed, std::int64_t batch, std::int64_t images_per_person);

  std::vector<Slot> batch(std::int64_t iteration) const override;

 private:
  std::uint64_t seed_;
  std::vector<std::vector<std::int64_t>> people_;  // the samples of each
  ShuffleSampler order_;                           // of people
};

// Batches drawn afresh each time: people in random order, of each as many images at random as there
// are, at most K, until the batch is full; the last one may be cut short. Source: sample_people of
// facenet's train_tripletloss.py.
class PeopleSampler : public EvenSampler {
 public:
  // Arguments as BalancedSampler's. Throws std::invalid_argument where all people together do not
  // fill a batch.
  PeopleSampler(const std::vector<std::int64_t>& samples, const std::vector<std::int64_t>& labels,
                std::uint64_t seed, std::int64_t batch, std::int64_t images_per_person);

  std::vector<Slot> batch(std::int64_t iteration) const override;

 private:
  std::uint64_t seed_;
  std::vector<std::vector<std::int64_t>> people_;
};

struct SamplerSettings {
  std::vector<std::int64_t> samples;  // those to be used
  std::vector<std::int64_t> labels;   // of every image of the source
  std::uint64_t seed = 0;
  std::int64_t batch = 0;
  LastBatch last_batch = LastBatch::drop;
  std::int64_t images_per_person = 0;
};

struct SamplerEntry {
  std::string name;
  std::string doc;
  std::function<std::unique_ptr<Sampler>(const SamplerSettings&)> make;
};

// shuffle, balanced, people.
const Table<SamplerEntry>& samplers();

}  // namespace facebench
