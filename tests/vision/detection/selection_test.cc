#include "facebench/detection/selection.h"

#include <gtest/gtest.h>

#include "detection/textures.h"
#include "facebench/core/error.h"

namespace facebench {
namespace {

TEST(Selection, WorkedCase) {
  Face big, near;
  big.box = {0, 0, 50, 50};
  near.box = {40, 40, 60, 60};
  const std::vector<Face> faces{big, near};
  EXPECT_EQ(select_face(faces, 100, 100, "largest"), 0u);
  EXPECT_EQ(select_face(faces, 100, 100, "nearest_center"), 1u);
  // 2500 - 2 * 1250 = 0 against 400.
  EXPECT_EQ(select_face(faces, 100, 100, "center_weighted"), 1u);
  EXPECT_FALSE(select_face({}, 100, 100, "largest").has_value());
}

}  // namespace
}  // namespace facebench
