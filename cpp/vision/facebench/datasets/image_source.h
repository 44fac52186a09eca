#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facebench/io/sample_status.h"

namespace facebench {

// The size of every image of a source; always RGB, 8 bits, rows top to bottom, interleaved.
struct ImageShape {
  int height = 0;
  int width = 0;
  std::int64_t bytes() const { return std::int64_t{3} * height * width; }
  bool operator==(const ImageShape&) const = default;
};

// Equally large crops in memory, by index: what extraction and training read. A pack is one, an
// array of images another. All calls are safe from several threads at once.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  virtual std::int64_t size() const = 0;
  virtual ImageShape shape() const = 0;
  // A row whose status is not ok holds no face: its pixels are zeros.
  virtual SampleStatus status(std::int64_t index) const = 0;
  // The sample's id; empty if the source has no names.
  virtual std::string name(std::int64_t index) const = 0;
  // shape().bytes() bytes, valid as long as the source. Throws std::out_of_range.
  virtual const std::uint8_t* pixels(std::int64_t index) const = 0;
};

// What an image is called where names are compared: its name, or its number in a source without.
std::string sample_id(const ImageSource& images, std::int64_t index);

// A view of an array (N, H, W, 3) of pixels, which it does not own.
class ImageArray : public ImageSource {
 public:
  // `names` and `statuses` are empty (no names; all ok) or of `size`. Throws std::invalid_argument.
  ImageArray(const std::uint8_t* pixels, std::int64_t size, ImageShape shape,
             std::vector<std::string> names = {}, std::vector<SampleStatus> statuses = {});

  std::int64_t size() const override { return size_; }
  ImageShape shape() const override { return shape_; }
  SampleStatus status(std::int64_t index) const override;
  std::string name(std::int64_t index) const override;
  const std::uint8_t* pixels(std::int64_t index) const override;

 private:
  void check(std::int64_t index) const;

  const std::uint8_t* pixels_;
  std::int64_t size_;
  ImageShape shape_;
  std::vector<std::string> names_;
  std::vector<SampleStatus> statuses_;
};

}  // namespace facebench
