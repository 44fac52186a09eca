#include "facebench/images/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace facebench {

View central_view(int image_width, int image_height, int width, int height) {
  if (width > image_width || height > image_height)
    throw std::invalid_argument(
        fmt::format("an image of {}x{} has no middle of {}x{} (height x width)", image_height,
                    image_width, height, width));
  const int x0 = (image_width - width) / 2, y0 = (image_height - height) / 2;
  return {0, 0, x0, y0, x0 + width, y0 + height};
}

void write_view(const std::uint8_t* rgb, int image_width, int image_height, const View& view,
                int out_width, int out_height, Interpolation interpolation,
                std::vector<std::uint8_t>& out) {
  const bool resized = view.width > 0;
  const int width = resized ? view.width : image_width;
  const int height = resized ? view.height : image_height;
  if (view.x0 < 0 || view.y0 < 0 || view.x1 <= view.x0 || view.y1 <= view.y0 || view.x1 > width ||
      view.y1 > height)
    throw std::out_of_range(fmt::format("view [{}, {}) x [{}, {}) of an image of {}x{}", view.x0,
                                        view.x1, view.y0, view.y1, width, height));
  Image image;
  const std::uint8_t* source = rgb;
  if (resized) {
    image = Image(image_width, image_height);
    std::copy_n(rgb, image.data.size(), image.data.begin());
    image = resize(image, width, height, interpolation);
    source = image.data.data();
  }
  const int cut_width = view.x1 - view.x0, cut_height = view.y1 - view.y0;
  Image part(cut_width, cut_height);
  for (int y = 0; y < cut_height; ++y)
    std::copy_n(source + 3 * (static_cast<std::size_t>(view.y0 + y) * width + view.x0),
                part.stride(), part.row(y));
  if (cut_width != out_width || cut_height != out_height)
    part = resize(part, out_width, out_height, interpolation);
  out = std::move(part.data);
}

}  // namespace facebench
