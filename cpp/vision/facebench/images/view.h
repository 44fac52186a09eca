#pragma once

#include <cstdint>
#include <vector>

#include "facebench/images/resize.h"

namespace facebench {

// A part of an image at another size: the image is brought to `width` x `height` (0: left as it
// is), and the pixels [x0, x1) x [y0, y1) of that are brought to the size asked for.
struct View {
  int width = 0;
  int height = 0;
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;
  bool operator==(const View&) const = default;
};

// The middle width x height pixels of an image of that size: what is left over is halved, the odd
// pixel stays at the right and at the bottom. Throws std::invalid_argument where the image is
// smaller.
View central_view(int image_width, int image_height, int width, int height);

// The view of an RGB image (3 * image_width * image_height bytes) at out_width x out_height, into
// `out`, which is resized. Throws std::out_of_range where the view is empty or outside.
void write_view(const std::uint8_t* rgb, int image_width, int image_height, const View& view,
                int out_width, int out_height, Interpolation interpolation,
                std::vector<std::uint8_t>& out);

}  // namespace facebench
