#pragma once

#include <algorithm>
#include <string>

#include "facebench/images/encode.h"
#include "facebench/images/image.h"

namespace facebench {

inline std::string jpeg(std::uint8_t value) {
  Image image(8, 6);
  std::fill(image.data.begin(), image.data.end(), value);
  return encode_jpeg(image);
}

}  // namespace facebench
