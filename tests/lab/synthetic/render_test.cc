#include "facebench/synthetic/render.h"

#include <gtest/gtest.h>

#include <cmath>

#include "facebench/core/error.h"
#include "io/helpers.h"
#include "synthetic/photo.h"

namespace facebench {
namespace {

double mean_difference(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.data.size(); ++i) sum += std::abs(a.data[i] - b.data[i]);
  return sum / static_cast<double>(a.data.size());
}

TEST(Render, SameBytesForTheSameArguments) {
  const FaceIdentity person = make_identity(1, 0);
  const FaceNuisance n = photo("wild", 0);
  const SyntheticFace a = render_face(person, n, 96), b = render_face(person, n, 96);
  EXPECT_EQ(a.image, b.image);
  EXPECT_EQ(a.box, b.box);
  EXPECT_NE(a.image, render_face(make_identity(1, 1), n, 96).image);
  EXPECT_NE(a.image, render_face(person, photo("wild", 1), 96).image);
}

TEST(Render, EveryKindDrawsAndItsDisguiseChangesThePicture) {
  const FaceIdentity person = make_identity(2, 5);
  for (const NuisanceKind& kind : nuisance_kinds().entries()) {
    FaceNuisance n = photo(kind.name, 3);
    const SyntheticFace face = render_face(person, n, 64);
    EXPECT_EQ(face.image.width, 64) << kind.name;
    EXPECT_EQ(face.disguise, disguise_of(n));
    if (n.disguise == "none") continue;
    n.disguise = "none";
    EXPECT_GT(mean_difference(face.image, render_face(person, n, 64).image), .3) << kind.name;
  }
}

TEST(Render, LandmarksLieInTheBoxAndInOrder) {
  for (std::uint64_t i = 0; i < 8; ++i) {
    const SyntheticFace f = render_face(make_identity(3, static_cast<std::int64_t>(i)),
                                        photo(i % 2 ? "frontal" : "yaw45", i), 64);
    for (const Point& p : f.landmarks) {
      EXPECT_GT(p.x, f.box.x0);
      EXPECT_LT(p.x, f.box.x1 + 3);  // the tip of a turned nose may stand out
      EXPECT_GT(p.y, f.box.y0);
      EXPECT_LT(p.y, f.box.y1);
    }
    EXPECT_LT(f.landmarks[0].x, f.landmarks[1].x);
    EXPECT_LT(f.landmarks[3].x, f.landmarks[4].x);
    EXPECT_LT(f.landmarks[0].y, f.landmarks[2].y);
    EXPECT_LT(f.landmarks[2].y, f.landmarks[3].y);
  }
}

TEST(Render, LandmarksFollowThePose) {
  FaceNuisance n;
  n.smile = 0;
  const FaceIdentity average = make_identity(1, 0, 0);
  const SyntheticFace front = render_face(average, n, 200);
  // The average face is symmetric about the middle of the image, pixel centres counted.
  EXPECT_NEAR(front.landmarks[2].x, 99.5, .01);
  EXPECT_NEAR(front.landmarks[0].x + front.landmarks[1].x, 199, .05);
  n.yaw = 40;
  EXPECT_GT(render_face(average, n, 200).landmarks[2].x, front.landmarks[2].x + 15);
  n.yaw = 0;
  n.pitch = 15;  // chin up: the nose moves up
  EXPECT_LT(render_face(average, n, 200).landmarks[2].y, front.landmarks[2].y - 5);
  n.pitch = 0;
  n.roll = 20;  // clockwise: the right eye of the image goes down
  const SyntheticFace rolled = render_face(average, n, 200);
  EXPECT_GT(rolled.landmarks[1].y, rolled.landmarks[0].y + 10);
}

TEST(Render, SupersamplingAndSizeKeepTheGeometry) {
  const FaceIdentity person = make_identity(4, 1);
  FaceNuisance n = photo("frontal", 2);
  n.noise = 0;
  const SyntheticFace one = render_face(person, n, 128, 1), three = render_face(person, n, 128, 3);
  EXPECT_NEAR(one.box.x0, three.box.x0, .01);
  EXPECT_NEAR(one.landmarks[4].y, three.landmarks[4].y, .01);
  EXPECT_LT(mean_difference(one.image, three.image), 4);
  const SyntheticFace twice = render_face(person, n, 256);
  EXPECT_NEAR(twice.landmarks[0].x + .5, 2 * (one.landmarks[0].x + .5), .05);
}

TEST(Render, RejectsWhatIsOutOfRange) {
  const FaceIdentity person = make_identity(1, 0);
  EXPECT_THROW(render_face(person, {}, 16), std::invalid_argument);
  EXPECT_THROW(render_face(person, {}, 64, 5), std::invalid_argument);
  FaceNuisance n;
  n.disguise = "beard";
  EXPECT_THROW(render_face(person, n, 64), std::invalid_argument);
  n = {};
  n.yaw = 170;
  EXPECT_THROW(render_face(person, n, 64), std::invalid_argument);
}

}  // namespace
}  // namespace facebench
