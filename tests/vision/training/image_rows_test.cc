// From the pixels of a source to the batches of a training: rows, views, colours, the loader.
#include "facebench/datasets/image_rows.h"

#include <gtest/gtest.h>

#include "training/helpers.h"

namespace facebench {
namespace {

TEST(ImageRows, AreTheSourcesInTheOrderAskedFor) {
  Pictures pictures(6, 3, {4, 5});
  pictures.failed = 4;
  const ImageRows rows(pictures, {5, 4, 1});
  EXPECT_EQ(rows.size(), 3);
  EXPECT_EQ(rows.shape(), (ImageShape{4, 5}));
  EXPECT_EQ(rows.name(0), "p5");
  EXPECT_EQ(rows.status(1), SampleStatus::no_face);
  EXPECT_EQ(rows.pixels(2), pictures.pixels(1));
  EXPECT_THROW(rows.pixels(3), std::out_of_range);
  const ImageArray unnamed(pictures.pixels(0), 6, {4, 5});
  EXPECT_EQ(ImageRows(unnamed, {3}).name(0), "3");
}

}  // namespace
}  // namespace facebench
