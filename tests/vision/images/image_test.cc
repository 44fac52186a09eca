#include "facebench/images/image.h"

#include <gtest/gtest.h>

#include "facebench/core/error.h"
#include "images/pattern.h"

namespace facebench {
namespace {

TEST(Image, RefusesImpossibleSizes) {
  EXPECT_THROW(Image(0, 5), std::invalid_argument);
  EXPECT_THROW(Image(5, -1), std::invalid_argument);
  EXPECT_THROW(Image(1 << 20, 1 << 20), std::invalid_argument);
  Image wrong = pattern(3, 3);
  wrong.width = 4;
  EXPECT_THROW(check_image(wrong), std::invalid_argument);
}

TEST(Image, ColourOrdersConvertBackAndForth) {
  const Image rgb = pattern(7, 5);
  const Image bgr = convert_color(rgb, ColorOrder::bgr);
  EXPECT_EQ(bgr.data[0], rgb.data[2]);
  EXPECT_EQ(convert_color(bgr, ColorOrder::rgb), rgb);
  EXPECT_EQ(convert_color(rgb, ColorOrder::gray), convert_color(bgr, ColorOrder::gray));
  EXPECT_THROW(parse_color_order("rbg"), std::invalid_argument);
}

}  // namespace
}  // namespace facebench
