#include "facebench/detection/face.h"

#include <gtest/gtest.h>

#include "detection/textures.h"

namespace facebench {
namespace {

TEST(Face, IntersectionOverUnion) {
  EXPECT_DOUBLE_EQ(intersection_over_union({0, 0, 2, 2}, {1, 1, 3, 3}), 1.0 / 7);
  EXPECT_DOUBLE_EQ(intersection_over_union({0, 0, 2, 2}, {2, 0, 3, 2}), 0);
  EXPECT_DOUBLE_EQ(intersection_over_union({1, 1, 1, 1}, {1, 1, 1, 1}), 0);
}

}  // namespace
}  // namespace facebench
