#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facebench/datasets/dataset.h"
#include "facebench/datasets/image_source.h"

namespace facebench {

// The images of a data set, decoded and brought to one size each time their pixels are asked for:
// files or entries of an archive are read without a pack. Pixels stay until the same thread asks
// again, which is all that training and extraction need, who use them at once.
class DecodedImages : public ImageSource {
 public:
  // Images of another size are resized (area). Without a shape it is that of the first image
  // that can be decoded. Throws Error where the data set is empty or none can.
  explicit DecodedImages(Dataset dataset, std::optional<ImageShape> shape = {});

  std::int64_t size() const override { return static_cast<std::int64_t>(dataset_.samples.size()); }
  ImageShape shape() const override { return shape_; }
  // Always ok: nothing is opened for it.
  SampleStatus status(std::int64_t index) const override;
  std::string name(std::int64_t index) const override { return sample(index).id; }
  // Throws Error naming file and record where the image cannot be read or decoded.
  const std::uint8_t* pixels(std::int64_t index) const override;

  const Dataset& dataset() const { return dataset_; }

  // The same without the images that `out` names by index; people who have none left are no longer
  // counted. Throws as the constructor does.
  std::unique_ptr<const DecodedImages> without(const std::vector<bool>& out) const;

 private:
  const Sample& sample(std::int64_t index) const {
    return dataset_.samples.at(static_cast<std::size_t>(index));
  }

  Dataset dataset_;
  std::optional<ImageShape> asked_;
  ImageShape shape_;
};

}  // namespace facebench
