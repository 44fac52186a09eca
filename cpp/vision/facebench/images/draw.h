#pragma once

#include <array>
#include <cstdint>

#include "facebench/images/image.h"

namespace facebench {

// In the image's own channels (the first value alone for a grey image).
using Color = std::array<std::uint8_t, 3>;

// The outline of the rectangle with these corners (rounded to pixels), `thickness` pixels wide
// towards the inside. What lies outside the image is not drawn; coordinates that are not numbers
// draw nothing.
void draw_rectangle(Image& image, float x0, float y0, float x1, float y1, Color color,
                    int thickness = 1);
// A filled square of 2 * radius + 1 pixels around a point.
void draw_point(Image& image, float x, float y, Color color, int radius = 1);

}  // namespace facebench
