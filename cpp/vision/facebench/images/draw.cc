#include "facebench/images/draw.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace facebench {
namespace {

// Fills [x0, x1] x [y0, y1], clipped. Doubles, so that no coordinate overflows.
void fill(Image& image, double x0, double y0, double x1, double y1, Color color) {
  const int left = static_cast<int>(std::clamp(x0, 0.0, static_cast<double>(image.width)));
  const int top = static_cast<int>(std::clamp(y0, 0.0, static_cast<double>(image.height)));
  const int right = static_cast<int>(std::clamp(x1 + 1, 0.0, static_cast<double>(image.width)));
  const int bottom = static_cast<int>(std::clamp(y1 + 1, 0.0, static_cast<double>(image.height)));
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x)
      std::copy_n(color.begin(), image.channels(), image.row(y) + x * image.channels());
}

}  // namespace

void draw_rectangle(Image& image, float x0, float y0, float x1, float y1, Color color,
                    int thickness) {
  check_image(image);
  if (thickness < 1) throw std::invalid_argument("a line is at least one pixel thick");
  for (const float v : {x0, y0, x1, y1})
    if (!std::isfinite(v)) return;
  const double l = std::round(x0), t = std::round(y0), r = std::round(x1), b = std::round(y1);
  if (l > r || t > b) return;
  const double in = thickness - 1;
  fill(image, l, t, r, std::min(b, t + in), color);
  fill(image, l, std::max(t, b - in), r, b, color);
  fill(image, l, t, std::min(r, l + in), b, color);
  fill(image, std::max(l, r - in), t, r, b, color);
}

void draw_point(Image& image, float x, float y, Color color, int radius) {
  check_image(image);
  if (radius < 0) throw std::invalid_argument("a point's radius is at least 0");
  if (!std::isfinite(x) || !std::isfinite(y)) return;
  const double cx = std::round(x), cy = std::round(y);
  fill(image, cx - radius, cy - radius, cx + radius, cy + radius, color);
}

}  // namespace facebench
