#include "facebench/images/resize.h"

#include <gtest/gtest.h>

#include "facebench/core/error.h"
#include "facebench/images/area_sampler.h"
#include "images/pattern.h"

namespace facebench {
namespace {

TEST(Resize, Cut) {
  const Image image = pattern(6, 4);
  const Image part = cut(image, 1, 1, 4, 3);
  EXPECT_EQ(part.width, 3);
  EXPECT_EQ(part.row(1)[0], image.row(2)[3]);
  EXPECT_THROW(cut(image, 0, 0, 7, 4), std::out_of_range);
  EXPECT_THROW(cut(image, 2, 0, 2, 4), std::out_of_range);
}

}  // namespace
}  // namespace facebench
