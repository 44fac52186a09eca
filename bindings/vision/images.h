#pragma once

#include <string>

#include "common.h"
#include "facebench/images/image.h"

namespace facebench {

using PixelArray = py::array_t<std::uint8_t, py::array::c_style>;

// A numpy array (height, width, 3) or (height, width) as an image; three channels mean `order`.
// Other types than uint8 are refused, not converted: floats would lose their scale in silence.
Image image_from_numpy(const py::array& array, ColorOrder order = ColorOrder::rgb);
// (height, width, 3), or (height, width) for grey; owns its memory.
PixelArray image_to_numpy(Image&& image);

}  // namespace facebench
