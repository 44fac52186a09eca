#include <gtest/gtest.h>

#include <map>
#include <set>

#include "facebench/training/sampler.h"
#include "training/helpers.h"

namespace facebench {
namespace {

std::vector<Sampler::Slot> all_slots(const Sampler& sampler, std::int64_t iterations) {
  std::vector<Sampler::Slot> slots;
  for (std::int64_t i = 0; i < iterations; ++i)
    for (const Sampler::Slot& slot : sampler.batch(i)) slots.push_back(slot);
  return slots;
}

TEST(Sampler, EachSampleOnceInEachEpoch) {
  for (const LastBatch last : {LastBatch::wrap, LastBatch::keep}) {
    const ShuffleSampler sampler(numbers(23), 5, 4, last);
    std::map<std::int64_t, std::multiset<std::int64_t>> seen;
    for (const Sampler::Slot& slot : all_slots(sampler, sampler.iterations(3)))
      seen[slot.epoch].insert(slot.sample);
    const std::vector<std::int64_t> samples = numbers(23);
    for (std::int64_t epoch = 0; epoch < 3; ++epoch)
      EXPECT_EQ(seen[epoch], std::multiset<std::int64_t>(samples.begin(), samples.end()));
  }
}

TEST(Sampler, LastBatches) {
  const ShuffleSampler wrap(numbers(10), 1, 4, LastBatch::wrap),
      keep(numbers(10), 1, 4, LastBatch::keep), drop(numbers(10), 1, 4, LastBatch::drop);
  EXPECT_EQ(wrap.batch(2).size(), 4u);
  EXPECT_EQ(wrap.batch(2)[1].epoch, 0);
  EXPECT_EQ(wrap.batch(2)[2].epoch, 1);
  EXPECT_EQ(keep.batch(2).size(), 2u);
  EXPECT_EQ(keep.batch(3)[0].epoch, 1);
  EXPECT_EQ(drop.batch(2)[0].epoch, 1);
  EXPECT_EQ(wrap.iterations(2), 5);
  EXPECT_EQ(keep.iterations(2), 6);
  EXPECT_EQ(drop.iterations(2), 4);
  EXPECT_DOUBLE_EQ(wrap.iterations_per_epoch(), 2.5);
  EXPECT_THROW(ShuffleSampler(numbers(3), 1, 4, LastBatch::drop), std::invalid_argument);
  // A batch larger than the data goes round more than once.
  EXPECT_EQ(ShuffleSampler(numbers(3), 1, 8, LastBatch::wrap).batch(0)[7].epoch, 2);
}

TEST(Sampler, KnownFromTheNumberAloneAndShuffledAnew) {
  const ShuffleSampler a(numbers(50), 9, 8, LastBatch::keep), b(numbers(50), 9, 8, LastBatch::keep);
  b.batch(30);
  EXPECT_EQ(a.batch(12), b.batch(12));
  EXPECT_NE(a.batch(0), ShuffleSampler(numbers(50), 10, 8, LastBatch::keep).batch(0));
  std::vector<std::int64_t> first, second;
  for (const auto& slot : a.batch(0)) first.push_back(slot.sample);
  for (const auto& slot : a.batch(7)) second.push_back(slot.sample);
  EXPECT_NE(first, second);
}

TEST(BalancedSampler, EachBatchHasAsManyImagesOfDifferentPeople) {
  // People with 1, 2, ..., 7 images.
  const auto [samples, labels] = people_of_one_to_seven();
  const BalancedSampler sampler(samples, labels, 3, /*batch=*/9, /*images_per_person=*/3);
  EXPECT_EQ(sampler.iterations_per_epoch(), 3);  // 28 images
  EXPECT_EQ(sampler.epoch(5), 1);
  std::map<std::int64_t, int> uses;
  std::set<std::vector<std::int64_t>> batches;
  for (std::int64_t i = 0; i < 140; ++i) {
    std::map<std::int64_t, std::set<std::pair<std::int64_t, std::int64_t>>> of_person;
    std::vector<std::int64_t> images;
    const std::vector<Sampler::Slot> slots = sampler.batch(i);
    ASSERT_EQ(slots.size(), 9u);
    for (const Sampler::Slot& slot : slots) {
      of_person[labels[static_cast<std::size_t>(slot.sample)]].insert({slot.sample, slot.epoch});
      ++uses[slot.sample];
      images.push_back(slot.sample);
    }
    EXPECT_EQ(of_person.size(), 3u);
    for (const auto& [person, own] : of_person) EXPECT_EQ(own.size(), 3u);
    batches.insert(images);
  }
  EXPECT_GT(batches.size(), 100u);
  // 140 batches of 3 people: each of the 7 about 60 times, 180 images of each person.
  for (const auto& [sample, count] : uses) {
    const double expected =
        180.0 / static_cast<double>(labels[static_cast<std::size_t>(sample)] + 1);
    EXPECT_NEAR(count, expected, 0.35 * expected) << sample;
  }
  const BalancedSampler again(samples, labels, 3, 9, 3);
  EXPECT_EQ(again.batch(77), sampler.batch(77));
  EXPECT_EQ(again.batch(3), sampler.batch(3));
  EXPECT_NE(BalancedSampler(samples, labels, 4, 9, 3).batch(3), sampler.batch(3));
  EXPECT_THROW(BalancedSampler(samples, labels, 3, 10, 3), std::invalid_argument);
  EXPECT_THROW(BalancedSampler(samples, labels, 3, 24, 3), std::invalid_argument);
}

}  // namespace
}  // namespace facebench
