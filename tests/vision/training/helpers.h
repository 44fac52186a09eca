#pragma once

// What several tests of the floor need: sample numbers, small pictures in memory, and the recipe of
// a network that trains in a second.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "facebench/core/random.h"
#include "facebench/datasets/image_source.h"

namespace facebench {

inline std::vector<std::int64_t> numbers(std::int64_t n) {
  std::vector<std::int64_t> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(100 + i);
  return v;
}

// The numbers of samples, and who is on them: people with 1, 2, ..., 7 images.
inline std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> people_of_one_to_seven() {
  std::vector<std::int64_t> samples, labels;
  for (std::int64_t person = 0; person < 7; ++person)
    for (std::int64_t k = 0; k <= person; ++k) {
      samples.push_back(static_cast<std::int64_t>(labels.size()));
      labels.push_back(person);
    }
  return {samples, labels};
}

// Small pictures in memory: each person a colour, with noise.
class Pictures : public ImageSource {
 public:
  Pictures(std::int64_t n, int persons, ImageShape shape) : n_(n), shape_(shape) {
    Random random(1, "pictures");
    for (std::int64_t i = 0; i < n; ++i) {
      labels.push_back(10 * (i % persons));
      for (std::int64_t p = 0; p < shape.bytes(); ++p)
        bytes_.push_back(
            static_cast<std::uint8_t>((i % persons * 40 + p % 3 * 30 * (i % persons % 2) +
                                       static_cast<int>(random.below(60))) %
                                      256));
    }
  }
  std::int64_t size() const override { return n_; }
  ImageShape shape() const override { return shape_; }
  SampleStatus status(std::int64_t i) const override {
    return i == failed ? SampleStatus::no_face : SampleStatus::ok;
  }
  std::string name(std::int64_t i) const override { return "p" + std::to_string(i); }
  const std::uint8_t* pixels(std::int64_t i) const override {
    return bytes_.data() + i * shape_.bytes();
  }
  std::vector<std::int64_t> labels;
  std::int64_t failed = -1;

 private:
  std::int64_t n_;
  ImageShape shape_;
  std::vector<std::uint8_t> bytes_;
};

inline constexpr const char* tiny_recipe = R"(
version = 1
title = "for tests"
[network]
name = "small4"
embedding = 8
channel_multiplier = 0.125
[loss]
name = "center"
[training]
epochs = 3
batch = 8
last_batch = "wrap"
[schedule]
policy = "cosine"
[augmentation]
shift = 1
)";

}  // namespace facebench
