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
    : dataset_(std::move(dataset)) {
  if (dataset_.samples.empty()) fail(dataset_.root.string(), "the data set has no images");
  if (shape) {
    shape_ = *shape;
  } else {
    const Image first = decode(dataset_.samples.front());
    shape_ = {first.height, first.width};
  }
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
