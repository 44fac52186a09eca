#include "facebench/datasets/image_source.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace facebench {

std::string sample_id(const ImageSource& images, std::int64_t index) {
  std::string name = images.name(index);
  return name.empty() ? std::to_string(index) : name;
}

ImageArray::ImageArray(const std::uint8_t* pixels, std::int64_t size, ImageShape shape,
                       std::vector<std::string> names, std::vector<SampleStatus> statuses)
    : pixels_(pixels),
      size_(size),
      shape_(shape),
      names_(std::move(names)),
      statuses_(std::move(statuses)) {
  if (size < 0 || shape.height < 1 || shape.width < 1)
    throw std::invalid_argument("an array of images is (N, H, W, 3) with H and W at least 1");
  const auto n = static_cast<std::size_t>(size);
  if (!names_.empty() && names_.size() != n)
    throw std::invalid_argument(fmt::format("{} names for {} images", names_.size(), n));
  if (!statuses_.empty() && statuses_.size() != n)
    throw std::invalid_argument(fmt::format("{} statuses for {} images", statuses_.size(), n));
}

void ImageArray::check(std::int64_t index) const {
  if (index < 0 || index >= size_)
    throw std::out_of_range(fmt::format("image {} of {}", index, size_));
}

SampleStatus ImageArray::status(std::int64_t index) const {
  check(index);
  return statuses_.empty() ? SampleStatus::ok : statuses_[static_cast<std::size_t>(index)];
}

std::string ImageArray::name(std::int64_t index) const {
  check(index);
  return names_.empty() ? std::string() : names_[static_cast<std::size_t>(index)];
}

const std::uint8_t* ImageArray::pixels(std::int64_t index) const {
  check(index);
  return pixels_ + index * shape_.bytes();
}

}  // namespace facebench
