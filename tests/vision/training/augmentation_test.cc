#include "facebench/training/augmentation.h"

// From the pixels of a source to the batches of a training: rows, views, colours, the loader.

#include <gtest/gtest.h>

#include <set>

#include "facebench/datasets/image_rows.h"
#include "training/helpers.h"

namespace facebench {
namespace {

TEST(Augmentation, FlipsShiftsAndScalesByHand) {
  // One row of four pixels, red 0 10 20 30, green and blue zero.
  const std::vector<std::uint8_t> pixels{0, 0, 0, 10, 0, 0, 20, 0, 0, 30, 0, 0};
  const PixelInput scale("rgb", {10, 0, 0}, {2, 1, 1});
  const InputView whole("whole", 1, "bilinear", {1, 4}, {1, 4});
  float out[12];
  auto red = [&](PixelInput::Placement placement, bool interleaved) {
    const Variation v{whole.view(), placement, {}};
    write_variation(pixels.data(), whole, v, scale, interleaved, out);
    std::vector<float> r;
    for (int i = 0; i < 4; ++i) r.push_back(out[interleaved ? 3 * i : i]);
    return r;
  };
  for (const bool interleaved : {false, true}) {
    EXPECT_EQ(red({}, interleaved), (std::vector<float>{-5, 0, 5, 10}));
    EXPECT_EQ(red({true, 0, 0}, interleaved), (std::vector<float>{10, 5, 0, -5}));
    EXPECT_EQ(red({false, 1, 0}, interleaved), (std::vector<float>{-5, -5, 0, 5}));
    EXPECT_EQ(red({true, -2, 3}, interleaved), (std::vector<float>{0, -5, -5, -5}));
  }
}

TEST(Augmentation, ColourOrders) {
  const std::vector<std::uint8_t> pixel{10, 20, 40};
  const ImageShape one{1, 1};
  float out[3];
  PixelInput("bgr", {0, 1, 2}, {1}).write(pixel.data(), one, {}, true, out);
  EXPECT_EQ((std::vector<float>{out[0], out[1], out[2]}), (std::vector<float>{40, 19, 8}));
  const PixelInput gray("gray", {0}, {1});
  EXPECT_EQ(gray.channels(), 1);
  gray.write(pixel.data(), one, {}, true, out);
  EXPECT_EQ(out[0], 19);  // .299 * 10 + .587 * 20 + .114 * 40 = 19.29, rounded
  EXPECT_THROW(PixelInput("gray", {1, 2, 3}, {1}), std::invalid_argument);
  EXPECT_THROW(PixelInput("brg", {0}, {1}), std::invalid_argument);
}

TEST(Augmentation, EveryViewIsKeyedInsideAndOfAnAllowedShape) {
  for (const TrainingViewEntry& entry : training_views().entries()) {
    AugmentationOptions options;
    options.view = entry.name;
    options.side = {40, 60};
    const InputView input("center_crop", 1, "bilinear", {40, 50}, {32, 24});
    std::set<std::pair<int, int>> corners;
    for (int sample = 0; sample < 300; ++sample) {
      const View v = draw_variation(options, input, 3, 1, sample).view;
      EXPECT_EQ(v, draw_variation(options, input, 3, 1, sample).view);
      const int width = v.width > 0 ? v.width : 50, height = v.height > 0 ? v.height : 40;
      EXPECT_TRUE(v.x0 >= 0 && v.y0 >= 0 && v.x1 <= width && v.y1 <= height) << entry.name;
      corners.insert({v.x0, v.y0});
      const double w = v.x1 - v.x0, h = v.y1 - v.y0, share = w * h / 2000;
      if (entry.name == "random_crop" || entry.name == "random_side_crop" ||
          entry.name == "input") {
        EXPECT_TRUE(w == 24 && h == 32) << entry.name;
      }
      if (entry.name == "random_side_crop") {
        EXPECT_TRUE(v.height >= 40 && v.height <= 60) << v.height;
        EXPECT_EQ(v.width, std::nearbyint(v.height * 1.25));
      }
      if (entry.name == "random_resized_crop") {
        EXPECT_TRUE(share > 0.07 && share <= 1) << share;
      }
      if (entry.name == "distorted_box") {
        EXPECT_TRUE(share >= 0.1 && share <= 1) << share;
      }
      if (entry.name == "distorted_box" || entry.name == "random_resized_crop") {
        EXPECT_TRUE((w + 0.6) / h > 0.74 && (w - 0.6) / h < 1.34) << w << " " << h;
      }
    }
    if (entry.name == "input")
      EXPECT_EQ(corners, (std::set<std::pair<int, int>>{{13, 4}}));
    else
      EXPECT_GT(corners.size(), 60u) << entry.name;
  }
}

TEST(Augmentation, ViewsThatDoNotFitAreRefused) {
  EXPECT_THROW(InputView("whole", 1, "bilinear", {40, 50}, {32, 24}), std::invalid_argument);
  EXPECT_THROW(InputView("center_crop", 1, "bilinear", {40, 50}, {41, 24}), std::invalid_argument);
  AugmentationOptions options;
  options.view = "random_side_crop";
  options.side = {20, 20};
  const InputView input("center_crop", 1, "bilinear", {40, 50}, {32, 24});
  EXPECT_THROW(draw_variation(options, input, 1, 0, 0), std::invalid_argument);
  EXPECT_NO_THROW(check_augmentation(options));
  options.side = {30, 20};
  EXPECT_THROW(check_augmentation(options), std::invalid_argument);
  options = {};
  options.area = {0.5};
  EXPECT_THROW(check_augmentation(options), std::invalid_argument);
  options = {};
  options.aspect = {0, 1};
  EXPECT_THROW(check_augmentation(options), std::invalid_argument);
}

// Values worked out with a calculator.
TEST(Augmentation, ColoursByHand) {
  const auto after = [](ColorStep step, std::vector<float> rgb) {
    distort_colors(rgb, {step});
    return rgb;
  };
  const auto near = [](const std::vector<float>& a, const std::vector<float>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3) << i;
  };
  near(after({ColorOp::brightness, 0.1}, {0, 100, 250}), {25.5F, 125.5F, 255});
  near(after({ColorOp::contrast, 0.5}, {0, 0, 0, 100, 50, 0}), {25, 12.5F, 0, 75, 37.5F, 0});
  // Hue 30 degrees, saturation 0.8, value 200: half and twice the saturation, a third of a turn.
  near(after({ColorOp::saturation, 0.5}, {200, 120, 40}), {200, 160, 120});
  near(after({ColorOp::saturation, 2}, {200, 120, 40}), {200, 100, 0});
  near(after({ColorOp::hue, 1.0 / 3}, {200, 120, 40}), {40, 200, 120});
  near(after({ColorOp::hue, -1.0 / 3}, {200, 120, 40}), {120, 40, 200});
  near(after({ColorOp::hue, 0.2}, {77, 77, 77}), {77, 77, 77});
}

TEST(Augmentation, DrawsAreKeyedAndInRange) {
  AugmentationOptions options;
  options.shift = 2;
  const InputView whole("whole", 1, "bilinear", {8, 8}, {8, 8});
  int flips = 0;
  std::set<int> shifts;
  for (int sample = 0; sample < 400; ++sample) {
    const Variation v = draw_variation(options, whole, 3, 1, sample);
    EXPECT_EQ(v, draw_variation(options, whole, 3, 1, sample));
    flips += v.placement.mirror;
    shifts.insert(v.placement.dx);
  }
  EXPECT_NEAR(flips, 200, 50);
  EXPECT_EQ(shifts, (std::set<int>{-2, -1, 0, 1, 2}));
  options.flip = 0;
  EXPECT_FALSE(draw_variation(options, whole, 3, 1, 0).placement.mirror);
}

}  // namespace
}  // namespace facebench
