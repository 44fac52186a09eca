#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/datasets/image_source.h"
#include "facebench/images/view.h"

namespace facebench {

// How the network's input is cut out of a crop without randomness: for embedding, and by default in
// training.
struct InputViewEntry {
  std::string name;
  std::string doc;
  // `fraction` in (0, 1]. Throws std::invalid_argument where the input does not fit.
  View (*view)(const ImageShape& image, const ImageShape& input, double fraction);
};

// whole: the crop has the input's size. center_crop: its middle, of the input's size, as it is.
// center_fraction: the middle `fraction` of each side (the input's shape not kept), resized.
const Table<InputViewEntry>& input_views();

// One view made for one pair of sizes.
class InputView {
 public:
  // `name` of input_views(). Throws std::invalid_argument.
  InputView(const std::string& name, double fraction, const std::string& interpolation,
            const ImageShape& image, const ImageShape& input);

  // Pixels of the input's size: `pixels` itself, or those in `buffer`, which is filled.
  const std::uint8_t* apply(const std::uint8_t* pixels, std::vector<std::uint8_t>& buffer) const {
    return apply(view_, pixels, buffer);
  }
  // The same of another view of the image.
  const std::uint8_t* apply(const View& view, const std::uint8_t* pixels,
                            std::vector<std::uint8_t>& buffer) const;

  const View& view() const { return view_; }
  const ImageShape& image() const { return image_; }
  const ImageShape& input() const { return input_; }

 private:
  ImageShape image_, input_;
  Interpolation interpolation_;
  View view_;
};

}  // namespace facebench
