#include "facebench/datasets/decoded_images.h"

#include <span>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/images/decode.h"
#include "facebench/images/resize.h"

namespace facebench {
namespace {

Image decode(const Sample& sample) {
  const std::string bytes = sample.image.read();
  return decode_image(std::as_bytes(std::span(bytes)), {}, sample.image.where());
}

}  // namespace

DecodedImages::DecodedImages(Dataset dataset, std::optional<ImageShape> shape)
    : dataset_(std::move(dataset)), asked_(shape) {
  if (dataset_.samples.empty()) fail(dataset_.root.string(), "the data set has no images");
  if (shape) {
    shape_ = *shape;
    return;
  }
  std::string failure;
  for (const Sample& sample : dataset_.samples) {
    try {
      const Image first = decode(sample);
      shape_ = {first.height, first.width};
      return;
    } catch (const Error& error) {
      if (failure.empty()) failure = error.what();
    }
  }
  fail(dataset_.root.string(),
       "none of the " + std::to_string(dataset_.samples.size()) + " images can be decoded",
       "The first: " + failure);
}

std::unique_ptr<const DecodedImages> DecodedImages::without(const std::vector<bool>& out) const {
  Dataset kept = dataset_;
  kept.samples.clear();
  kept.label_names.clear();
  std::vector<std::int32_t> number(dataset_.label_names.size(), -1);
  for (std::size_t i = 0; i < dataset_.samples.size(); ++i)
    if (!out.at(i)) number.at(static_cast<std::size_t>(dataset_.samples[i].label)) = 0;
  for (std::size_t person = 0; person < number.size(); ++person)
    if (number[person] == 0) {
      number[person] = static_cast<std::int32_t>(kept.label_names.size());
      kept.label_names.push_back(dataset_.label_names[person]);
    }
  for (std::size_t i = 0; i < dataset_.samples.size(); ++i) {
    if (out[i]) continue;
    kept.samples.push_back(dataset_.samples[i]);
    kept.samples.back().label = number[static_cast<std::size_t>(dataset_.samples[i].label)];
  }
  return std::make_unique<const DecodedImages>(std::move(kept), asked_);
}

SampleStatus DecodedImages::status(std::int64_t index) const {
  sample(index);
  return SampleStatus::ok;
}

const std::uint8_t* DecodedImages::pixels(std::int64_t index) const {
  thread_local Image image;
  image = decode(sample(index));
  if (image.width != shape_.width || image.height != shape_.height)
    image = resize(image, shape_.width, shape_.height, Interpolation::area);
  return image.data.data();
}

}  // namespace facebench
