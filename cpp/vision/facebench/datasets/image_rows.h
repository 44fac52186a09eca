#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "facebench/datasets/image_source.h"

namespace facebench {

// Some images of a source, in the order asked for: what an evaluation needs of a pack, or a sample
// of it. Image i is image rows[i] of the source, which must outlive this. An image without a name
// is called by its number in the source, as it would be if all were read.
class ImageRows : public ImageSource {
 public:
  // A row that the source does not have throws when it is asked for, as the source does.
  ImageRows(const ImageSource& images, std::vector<std::int64_t> rows)
      : images_(images), rows_(std::move(rows)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(rows_.size()); }
  ImageShape shape() const override { return images_.shape(); }
  SampleStatus status(std::int64_t i) const override { return images_.status(row(i)); }
  std::string name(std::int64_t i) const override { return sample_id(images_, row(i)); }
  const std::uint8_t* pixels(std::int64_t i) const override { return images_.pixels(row(i)); }

 private:
  std::int64_t row(std::int64_t i) const { return rows_.at(static_cast<std::size_t>(i)); }
  const ImageSource& images_;
  std::vector<std::int64_t> rows_;
};

}  // namespace facebench
