#pragma once

#include "facebench/images/image.h"

namespace facebench {

inline Image pattern(int width, int height, ColorOrder order = ColorOrder::rgb) {
  Image image(width, height, order);
  for (std::size_t i = 0; i < image.data.size(); ++i)
    image.data[i] = static_cast<std::uint8_t>((i * 37 + i * i / 11) % 256);
  return image;
}

}  // namespace facebench
