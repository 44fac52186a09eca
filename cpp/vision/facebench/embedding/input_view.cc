#include "facebench/embedding/input_view.h"

#include <fmt/format.h>

#include <stdexcept>

namespace facebench {
namespace {

View whole(const ImageShape& image, const ImageShape& input, double) {
  if (image != input)
    throw std::invalid_argument(fmt::format(
        "the images are {}x{}, the network takes {}x{} (height x width), and the view 'whole' "
        "changes no size",
        image.height, image.width, input.height, input.width));
  return {0, 0, 0, 0, image.width, image.height};
}

View center_crop(const ImageShape& image, const ImageShape& input, double) {
  return central_view(image.width, image.height, input.width, input.height);
}

View center_fraction(const ImageShape& image, const ImageShape&, double fraction) {
  const auto part = [&](int side) {
    // What is left out on each side is whole pixels, as in TensorFlow's central_crop.
    return side - 2 * static_cast<int>((side - side * fraction) / 2);
  };
  return central_view(image.width, image.height, part(image.width), part(image.height));
}

}  // namespace

const Table<InputViewEntry>& input_views() {
  static const Table<InputViewEntry> table(
      "input view", {
                        {"whole", "the crop as it is, which has the input's size", whole},
                        {"center_crop", "the middle of the crop, of the input's size", center_crop},
                        {"center_fraction", "the middle fraction of each side of the crop, resized",
                         center_fraction},
                    });
  return table;
}

InputView::InputView(const std::string& name, double fraction, const std::string& interpolation,
                     const ImageShape& image, const ImageShape& input)
    : image_(image),
      input_(input),
      interpolation_(parse_interpolation(interpolation)),
      view_(input_views().at(name).view(image, input, fraction)) {}

const std::uint8_t* InputView::apply(const View& view, const std::uint8_t* pixels,
                                     std::vector<std::uint8_t>& buffer) const {
  if (image_ == input_ && view == View{0, 0, 0, 0, image_.width, image_.height}) return pixels;
  write_view(pixels, image_.width, image_.height, view, input_.width, input_.height, interpolation_,
             buffer);
  return buffer.data();
}

}  // namespace facebench
