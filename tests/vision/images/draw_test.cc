#include "facebench/images/draw.h"

#include <gtest/gtest.h>

#include <limits>

#include "facebench/core/error.h"
#include "facebench/images/area_sampler.h"

namespace facebench {
namespace {

TEST(Draw, StaysInsideTheImage) {
  Image image(10, 8);
  draw_rectangle(image, -5, -5, 100, 100, {9, 9, 9}, 2);
  EXPECT_EQ(image, Image(10, 8));
  draw_point(image, 9, 7, {1, 2, 3}, 3);
  EXPECT_EQ(image.row(7)[27], 1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  draw_rectangle(image, nan, 0, 5, 5, {9, 9, 9});
  draw_point(image, nan, 0, {9, 9, 9});
  draw_point(image, 1e30f, -1e30f, {9, 9, 9});
  EXPECT_EQ(image.row(0)[0], 0);
}

}  // namespace
}  // namespace facebench
