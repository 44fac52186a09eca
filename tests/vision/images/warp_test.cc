#include "facebench/images/warp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>

#include "facebench/core/random.h"
#include "images/pattern.h"

namespace facebench {
namespace {

struct Trial {
  Image image;
  Affine map;
  int width, height;
  std::uint8_t border;
};

// Any sizes, any turns and scales, shears, whole steps and halves of a step.
Trial trial_of(Random& random, int number) {
  const auto side = [&](int most) { return 1 + static_cast<int>(random.uniform(0, most)); };
  const int levels = number % 5 == 0 ? 2 : 256;
  Trial trial{Image(side(160), side(160), number % 3 == 0 ? ColorOrder::gray : ColorOrder::rgb),
              {},
              side(130),
              side(130),
              static_cast<std::uint8_t>(number % 4 == 0 ? random.uniform(0, 256) : 0)};
  for (std::uint8_t& value : trial.image.data)
    value = static_cast<std::uint8_t>(std::floor(random.uniform(0, levels)) * (255 / (levels - 1)));
  const double scale = std::exp(random.uniform(-2.5, 2.5)), turn = random.uniform(-3.2, 3.2);
  trial.map = {scale * std::cos(turn), -scale * std::sin(turn), random.uniform(-150, 150),
               scale * std::sin(turn), scale * std::cos(turn),  random.uniform(-150, 150)};
  if (number % 7 == 0) trial.map[0] += random.uniform(-1, 1);
  if (number % 11 == 0)
    trial.map = {1, 0, std::floor(random.uniform(-9, 9)) + std::floor(random.uniform(0, 64)) / 64,
                 0, 1, std::floor(random.uniform(-9, 9))};
  return trial;
}

TEST(Warp, IsOpenCvFoursToTheBit) {
  if (CV_VERSION_MAJOR != 4) GTEST_SKIP() << "OpenCV " << CV_VERSION << " has another rule";
  Random random(1, "warp");
  for (int number = 0; number < 600; ++number) {
    Trial t = trial_of(random, number);
    Image expected(t.width, t.height, t.image.order);
    const int type = CV_8UC(t.image.channels());
    const cv::Mat in(t.image.height, t.image.width, type, t.image.data.data());
    cv::Mat out(t.height, t.width, type, expected.data.data());
    const Affine& m = t.map;
    cv::warpAffine(in, out, cv::Matx23d(m[0], m[1], m[2], m[3], m[4], m[5]), out.size(),
                   cv::INTER_LINEAR, cv::BORDER_CONSTANT, cv::Scalar::all(t.border));
    ASSERT_EQ(warp_affine(t.image, m, t.width, t.height, t.border), expected) << number;
  }
}

TEST(Warp, ExactIsBilinearAtThePositionItself) {
  Random random(2, "warp");
  double most = 0;
  for (int number = 0; number < 100; ++number) {
    const Trial t = trial_of(random, number);
    const Image warped = warp_affine(t.image, t.map, t.width, t.height, t.border, WarpRule::exact);
    const Affine m = invert_affine(t.map);
    const int channels = t.image.channels();
    for (int y = 0; y < t.height; ++y)
      for (int x = 0; x < t.width; ++x) {
        const double u = m[0] * x + m[1] * y + m[2], v = m[3] * x + m[4] * y + m[5];
        const double left = std::floor(u), top = std::floor(v), a = u - left, b = v - top;
        for (int c = 0; c < channels; ++c) {
          const auto at = [&](double i, double j) -> double {
            const bool inside = i >= 0 && j >= 0 && i < t.image.width && j < t.image.height;
            return inside ? t.image.row(static_cast<int>(j))[static_cast<int>(i) * channels + c]
                          : t.border;
          };
          const double value = (1 - b) * ((1 - a) * at(left, top) + a * at(left + 1, top)) +
                               b * ((1 - a) * at(left, top + 1) + a * at(left + 1, top + 1));
          most = std::max(most, std::abs(value - warped.row(y)[x * channels + c]));
        }
      }
  }
  EXPECT_LT(most, .51);
  EXPECT_GT(most, .49);
}

TEST(Warp, BearsAnyMap) {
  const Image image(5, 4);
  const double largest = std::numeric_limits<double>::max();
  for (const double far : {1e6, 1e12, 1e30, 1e300, largest})
    for (const WarpRule rule : {WarpRule::opencv4, WarpRule::exact})
      for (const Affine& m : {Affine{1, 0, far, 0, 1, -far}, Affine{1e-9, 0, -far, 0, 1e-9, far},
                              Affine{1, .5, far, -.5, 1, far}}) {
        const Image warped = warp_affine(image, m, 7, 3, 9, rule);
        EXPECT_TRUE(std::ranges::all_of(warped.data, [](int v) { return v == 9; })) << far;
      }
  // Sides beyond the 16 bits in which OpenCV keeps positions.
  Image wide(40'000, 1, ColorOrder::gray);
  for (int x = 0; x < wide.width; ++x) wide.data[x] = static_cast<std::uint8_t>(x % 251);
  EXPECT_EQ(warp_affine(wide, {1, 0, 0, 0, 1, 0}, wide.width, 1), wide);
}

TEST(Warp, InverseUndoes) {
  const Affine m{1.5, 0.25, -7, -0.5, 2, 3};
  const Affine i = invert_affine(m);
  const double x = 4, y = -9;
  const double u = m[0] * x + m[1] * y + m[2], v = m[3] * x + m[4] * y + m[5];
  EXPECT_NEAR(i[0] * u + i[1] * v + i[2], x, 1e-12);
  EXPECT_NEAR(i[3] * u + i[4] * v + i[5], y, 1e-12);
  EXPECT_EQ(warp_affine(pattern(9, 8), {1, 0, 0, 0, 1, 0}, 9, 8), pattern(9, 8));
}

}  // namespace
}  // namespace facebench
