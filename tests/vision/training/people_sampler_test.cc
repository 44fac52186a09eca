#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "facebench/training/sampler.h"
#include "training/helpers.h"

namespace facebench {
namespace {

TEST(PeopleSampler, TakesUpToSoManyImagesOfPeopleAtRandom) {
  // People with 1, 2, ..., 7 images; batches of 10, of a person at most 4.
  const auto [samples, labels] = people_of_one_to_seven();
  const PeopleSampler sampler(samples, labels, 3, /*batch=*/10, /*images_per_person=*/4);
  EXPECT_EQ(sampler.iterations_per_epoch(), 2);  // 28 images
  constexpr int kBatches = 2100;
  std::map<std::int64_t, int> begins, uses;  // of each person; of each image
  for (std::int64_t i = 0; i < kBatches; ++i) {
    const std::vector<Sampler::Slot> slots = sampler.batch(i);
    ASSERT_EQ(slots.size(), 10u);
    std::vector<std::int64_t> order;
    std::map<std::int64_t, std::set<std::int64_t>> of_person;
    for (const Sampler::Slot& slot : slots) {
      const std::int64_t person = labels[static_cast<std::size_t>(slot.sample)];
      if (order.empty() || order.back() != person) order.push_back(person);
      EXPECT_TRUE(of_person[person].insert(slot.sample).second) << "an image twice";
      EXPECT_EQ(slot.epoch, i);
      ++uses[slot.sample];
    }
    EXPECT_EQ(order.size(), of_person.size()) << "a person's images lie together";
    ++begins[order.front()];
    for (const std::int64_t person : order) {
      const auto all = std::min<std::size_t>(static_cast<std::size_t>(person) + 1, 4);
      if (person == order.back())
        EXPECT_LE(of_person[person].size(), all);  // cut short where the batch is full
      else
        EXPECT_EQ(of_person[person].size(), all);
    }
  }
  // Each person begins as many batches: 300, with a deviation of 16; and each of a person's images
  // is used as often.
  for (const auto& [person, count] : begins) EXPECT_NEAR(count, 300, 80) << person;
  double of_last = 0;
  for (std::size_t i = 21; i < 28; ++i) of_last += uses[static_cast<std::int64_t>(i)] / 7.0;
  for (std::size_t i = 21; i < 28; ++i)
    EXPECT_NEAR(uses[static_cast<std::int64_t>(i)], of_last, 0.15 * of_last);
  EXPECT_EQ(PeopleSampler(samples, labels, 3, 10, 4).batch(77), sampler.batch(77));
  EXPECT_NE(PeopleSampler(samples, labels, 4, 10, 4).batch(77), sampler.batch(77));
  // 1 + 2 + 3 + 4 x 4 images are there.
  EXPECT_NO_THROW(PeopleSampler(samples, labels, 3, 22, 4).batch(5));
  EXPECT_THROW(PeopleSampler(samples, labels, 3, 23, 4), std::invalid_argument);
  EXPECT_THROW(PeopleSampler(samples, labels, 3, 0, 4), std::invalid_argument);
}

}  // namespace
}  // namespace facebench
