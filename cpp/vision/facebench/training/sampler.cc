#include "facebench/training/sampler.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "facebench/core/random.h"
#include "facebench/core/registry.h"

namespace facebench {

LastBatch parse_last_batch(std::string_view name) {
  const std::string known[] = {"wrap", "keep", "drop"};
  return static_cast<LastBatch>(index_of_name("last batch", name, known));
}

ShuffleSampler::ShuffleSampler(std::vector<std::int64_t> samples, std::uint64_t seed,
                               std::int64_t batch, LastBatch last_batch)
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

double ShuffleSampler::iterations_per_epoch() const {
  if (last_batch_ != LastBatch::wrap) return static_cast<double>(whole_);
  return static_cast<double>(samples()) / static_cast<double>(batch_);
}

std::int64_t ShuffleSampler::iterations(std::int64_t epochs) const {
  if (last_batch_ != LastBatch::wrap) return epochs * whole_;
  return (epochs * samples() + batch_ - 1) / batch_;
}

std::int64_t ShuffleSampler::epoch(std::int64_t iteration) const {
  return last_batch_ == LastBatch::wrap ? iteration * batch_ / samples() : iteration / whole_;
}

std::pair<std::int64_t, std::int64_t> ShuffleSampler::range(std::int64_t iteration) const {
  const std::int64_t n = samples();
  if (last_batch_ == LastBatch::wrap) return {iteration * batch_, (iteration + 1) * batch_};
  const std::int64_t epoch = iteration / whole_;
  const std::int64_t first = epoch * n + iteration % whole_ * batch_;
  return {first, std::min(first + batch_, (epoch + 1) * n)};
}

std::int64_t ShuffleSampler::batch_size(std::int64_t iteration) const {
  const auto [first, last] = range(iteration);
  return last - first;
}

std::vector<Sampler::Slot> ShuffleSampler::batch(std::int64_t iteration) const {
  std::vector<Slot> slots;
  const std::int64_t n = samples();
  auto [first, last] = range(iteration);
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

const std::vector<std::int64_t>& ShuffleSampler::order(std::int64_t epoch) const {
  Order& cached = orders_[epoch % 2];
  if (cached.epoch != epoch) {
    cached.samples = samples_;
    Random random(seed_, "shuffle", {static_cast<std::uint64_t>(epoch)});
    shuffle(cached.samples, random);
    cached.epoch = epoch;
  }
  return cached.samples;
}

namespace {

std::vector<std::vector<std::int64_t>> by_person(const std::vector<std::int64_t>& samples,
                                                 const std::vector<std::int64_t>& labels) {
  std::map<std::int64_t, std::vector<std::int64_t>> people;
  for (const std::int64_t s : samples) people[labels.at(static_cast<std::size_t>(s))].push_back(s);
  std::vector<std::vector<std::int64_t>> result;
  for (auto& [label, of_person] : people) result.push_back(std::move(of_person));
  return result;
}

std::vector<std::int64_t> numbers_below(std::size_t n) {
  std::vector<std::int64_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::int64_t people_in_batch(std::size_t people, std::int64_t batch, std::int64_t each) {
  if (each < 1 || batch % each != 0)
    throw std::invalid_argument("balanced sampler: a batch of " + std::to_string(batch) +
                                " is not a whole number of people with " + std::to_string(each) +
                                " images each");
  if (static_cast<std::int64_t>(people) < batch / each)
    throw std::invalid_argument("balanced sampler: a batch needs " + std::to_string(batch / each) +
                                " people, there are " + std::to_string(people) +
                                "; use a smaller batch, or more images of each person");
  return batch / each;
}

}  // namespace

EvenSampler::EvenSampler(std::int64_t images, std::int64_t batch, std::int64_t images_per_person)
    : batch_(batch), images_per_person_(images_per_person) {
  if (batch < 1 || images_per_person < 1)
    throw std::invalid_argument("sampler: a batch and each of its people need at least one image");
  whole_ = std::max<std::int64_t>(1, images / batch);
}

BalancedSampler::BalancedSampler(const std::vector<std::int64_t>& samples,
                                 const std::vector<std::int64_t>& labels, std::uint64_t seed,
                                 std::int64_t batch, std::int64_t images_per_person)
    : EvenSampler(static_cast<std::int64_t>(samples.size()), batch, images_per_person),
      seed_(seed),
      people_(by_person(samples, labels)),
      order_(numbers_below(people_.size()), seed,
             people_in_batch(people_.size(), batch, images_per_person), LastBatch::drop) {}

std::vector<Sampler::Slot> BalancedSampler::batch(std::int64_t iteration) const {
  std::vector<Slot> slots;
  slots.reserve(static_cast<std::size_t>(batch_size(iteration)));
  for (const Slot& person : order_.batch(iteration)) {
    const std::vector<std::int64_t>& own = people_[static_cast<std::size_t>(person.sample)];
    const auto n = static_cast<std::int64_t>(own.size());
    std::vector<std::int64_t> row;
    std::int64_t round = -1;
    for (std::int64_t k = 0; k < images_per_person(); ++k) {
      const std::int64_t place = person.epoch * images_per_person() + k;
      if (place / n != round) {
        round = place / n;
        row = own;
        Random random(
            seed_, "person",
            {static_cast<std::uint64_t>(person.sample), static_cast<std::uint64_t>(round)});
        shuffle(row, random);
      }
      slots.push_back({row[static_cast<std::size_t>(place % n)], round});
    }
  }
  return slots;
}

PeopleSampler::PeopleSampler(const std::vector<std::int64_t>& samples,
                             const std::vector<std::int64_t>& labels, std::uint64_t seed,
                             std::int64_t batch, std::int64_t images_per_person)
    : EvenSampler(static_cast<std::int64_t>(samples.size()), batch, images_per_person),
      seed_(seed),
      people_(by_person(samples, labels)) {
  std::int64_t most = 0;
  for (const std::vector<std::int64_t>& own : people_)
    most += std::min(static_cast<std::int64_t>(own.size()), images_per_person);
  if (most < batch)
    throw std::invalid_argument("people sampler: a batch of " + std::to_string(batch) + ", and " +
                                std::to_string(images_per_person) +
                                " images of each person at most make " + std::to_string(most) +
                                "; use a smaller batch, or more images of each person");
}

std::vector<Sampler::Slot> PeopleSampler::batch(std::int64_t iteration) const {
  const auto size = static_cast<std::size_t>(batch_size(iteration));
  Random random(seed_, "people", {static_cast<std::uint64_t>(iteration)});
  std::vector<std::int64_t> order = numbers_below(people_.size());
  shuffle(order, random);
  std::vector<Slot> slots;
  slots.reserve(size);
  for (auto person = order.begin(); slots.size() < size; ++person) {
    std::vector<std::int64_t> own = people_[static_cast<std::size_t>(*person)];
    shuffle(own, random);
    own.resize(
        std::min({own.size(), static_cast<std::size_t>(images_per_person()), size - slots.size()}));
    // A sample comes once in a batch at most: the batch's number tells its uses apart.
    for (const std::int64_t sample : own) slots.push_back({sample, iteration});
  }
  return slots;
}

const Table<SamplerEntry>& samplers() {
  static const Table<SamplerEntry> table(
      "sampler",
      {
          {"shuffle", "every image once in each epoch, in a new order",
           [](const SamplerSettings& s) -> std::unique_ptr<Sampler> {
             return std::make_unique<ShuffleSampler>(s.samples, s.seed, s.batch, s.last_batch);
           }},
          {"balanced", "as many images of each person in a batch (images_per_person)",
           [](const SamplerSettings& s) -> std::unique_ptr<Sampler> {
             return std::make_unique<BalancedSampler>(s.samples, s.labels, s.seed, s.batch,
                                                      s.images_per_person);
           }},
          {"people", "people at random, of each up to images_per_person images (facenet)",
           [](const SamplerSettings& s) -> std::unique_ptr<Sampler> {
             return std::make_unique<PeopleSampler>(s.samples, s.labels, s.seed, s.batch,
                                                    s.images_per_person);
           }},
      });
  return table;
}

}  // namespace facebench
