#include <gtest/gtest.h>

#include <cmath>

#include "facebench/crops/crop.h"

namespace facebench {
namespace {

TEST(Crop, TableIsDocumented) {
  for (const CropEntry& e : crops().entries()) {
    EXPECT_FALSE(e.doc.empty());
    EXPECT_GT(e.width, 0);
    Face face;
    face.box = {10, 10, 40, 50};
    face.has_landmarks = true;
    face.landmarks = {{{18, 25}, {32, 25}, {25, 33}, {20, 42}, {30, 42}}};
    CropOptions options;
    options.name = e.name;
    const Crop crop = crop_face(Image(60, 60), face, options);
    EXPECT_EQ(crop.status, SampleStatus::ok);
    EXPECT_EQ(crop.image.width, e.width);
    EXPECT_EQ(crop.image.height, e.height);
  }
}

TEST(Crop, WithoutLandmarksIsRejectedNotThrown) {
  Face face;
  face.box = {1, 1, 9, 9};
  const Crop crop = crop_face(Image(20, 20), face);
  EXPECT_EQ(crop.status, SampleStatus::rejected);
  EXPECT_FALSE(crop.reason.empty());
  EXPECT_TRUE(crop.image.empty());
}

TEST(Crop, HugeBoxesAreClipped) {
  Face face;
  face.box = {-1e30f, -1e30f, 1e30f, 1e30f};
  CropOptions options;
  options.name = "paper";
  const Crop crop = crop_face(Image(20, 20), face, options);
  EXPECT_EQ(crop.status, SampleStatus::ok);
  EXPECT_EQ(crop.image, Image(112, 112));
}

TEST(Similarity, RecoversAKnownOne) {
  const double angle = 0.3, scale = 1.7;
  const double a = scale * std::cos(angle), b = scale * std::sin(angle);
  std::vector<Point> from, to;
  for (int i = 0; i < 5; ++i) {
    const double x = 7.0 * i * i - 3, y = 11.0 * i;
    from.push_back({static_cast<float>(x), static_cast<float>(y)});
    to.push_back({static_cast<float>(a * x - b * y + 5), static_cast<float>(b * x + a * y - 9)});
  }
  const Affine m = fit_similarity(from, to);
  const Affine expected{a, -b, 5, b, a, -9};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(m[i], expected[i], 1e-4);
}

}  // namespace
}  // namespace facebench
