#include <gtest/gtest.h>

#include "facebench/core/error.h"
#include "facebench/core/isa.h"
#include "facebench/core/random.h"
#include "facebench/images/area_sampler.h"
#include "facebench/images/resize.h"
#include "images/pattern.h"

namespace facebench {
namespace {

// Means computed one by one.
void expect_means(const Image& image, int x0, int y0, int x1, int y1, int w, int h) {
  AreaSampler sampler(image);
  sampler.cover(x0, y0, x1, y1, w, h, 127.5f, 0.0078125f);
  std::vector<float> out(w * h * 3 + 1, -7), planes(3 * w);
  sampler.all(out.data());
  EXPECT_EQ(out.back(), -7) << "written beyond the end";
  for (int j = 0; j < h; ++j) {
    sampler.planar_row(j, planes.data(), w);
    for (int i = 0; i < w; ++i)
      for (int c = 0; c < 3; ++c) {
        const int left = x0 + i * (x1 - x0) / w, right = x0 + ((i + 1) * (x1 - x0) + w - 1) / w;
        const int top = y0 + j * (y1 - y0) / h, bottom = y0 + ((j + 1) * (y1 - y0) + h - 1) / h;
        double sum = 0;
        for (int y = top; y < bottom; ++y)
          for (int x = left; x < right; ++x) sum += image.row(y)[3 * x + c];
        const double mean = sum / ((right - left) * (bottom - top));
        ASSERT_NEAR(out[(j * w + i) * 3 + c], (mean - 127.5) / 128, 1e-6) << i << " " << j;
        ASSERT_EQ(planes[c * w + i], out[(j * w + i) * 3 + c]);
      }
  }
}

TEST(AreaSampler, IsTheMeanOfWholePixelsWithEveryInstructionSet) {
  const Isa best = active_isa();
  for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512}) {
    if (isa > supported_isa()) continue;
    force_isa(isa);
    expect_means(pattern(31, 23), 3, 2, 29, 20, 7, 24);
    expect_means(pattern(31, 23), 0, 0, 31, 23, 31, 23);
    expect_means(pattern(31, 23), 24, 20, 31, 23, 24, 24);  // to the last byte
    expect_means(pattern(1, 1), 0, 0, 1, 1, 24, 24);
    expect_means(pattern(2, 3), 1, 2, 2, 3, 2, 1);
    expect_means(pattern(90, 50), 5, 0, 88, 49, 40, 17);
    // More rows than a sum of 16 bits holds, all white.
    Image tall(9, 600);
    std::fill(tall.data.begin(), tall.data.end(), std::uint8_t{255});
    expect_means(tall, 0, 0, 9, 600, 2, 1);
  }
  force_isa(best);
  EXPECT_THROW(AreaSampler(Image(3, 3, ColorOrder::gray)), std::invalid_argument);
}

// To the bit, where sums lie next to a half as well: few grey levels make many ties.
TEST(AreaSampler, RoundedIsOpenCvsAreaFilterWithEveryInstructionSet) {
  const Isa best = active_isa();
  Random random(3, "area");
  for (int trial = 0; trial < 150; ++trial) {
    const auto side = [&](int most) { return 1 + static_cast<int>(random.uniform(0, most)); };
    const int factor = trial % 3 == 0 ? side(4) : 1;
    const int w = side(60), h = side(40), levels = trial % 2 == 0 ? 256 : 3;
    Image image(w * factor, h * factor);
    for (std::uint8_t& value : image.data)
      value = static_cast<std::uint8_t>(random.uniform(0, levels)) * (levels == 3 ? 127 : 1);
    const int columns = factor > 1 ? w : side(w), rows = factor > 1 ? h : side(h);
    const Image expected = resize(image, columns, rows, Interpolation::area);
    for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512}) {
      if (isa > supported_isa()) continue;
      force_isa(isa);
      AreaSampler sampler(image, AreaRule::rounded);
      sampler.cover(0, 0, image.width, image.height, columns, rows, 0, 1);
      std::vector<float> out(expected.data.size()), planes(3 * columns);
      sampler.all(out.data());
      ASSERT_TRUE(std::equal(out.begin(), out.end(), expected.data.begin()))
          << image.width << "x" << image.height << " to " << columns << "x" << rows;
      sampler.planar_row(rows - 1, planes.data(), columns);
      EXPECT_EQ(planes[2 * columns], out[3 * (rows - 1) * columns + 2]);
    }
  }
  force_isa(best);
}

// The part of [begin, end) that pixel i covers.
double covered(double begin, double end, int i) {
  return std::max(0., std::min(end, i + 1.) - std::max(begin, i + 0.));
}

TEST(AreaSampler, CoveredIsTheMeanOverAnAreaAndBlackOutside) {
  const Image image = pattern(31, 23);
  for (const auto& [x0, y0, x1, y1] :
       {std::array{0, 0, 31, 23}, {-9, -14, 40, 33}, {20, 11, 60, 51}, {-50, 3, -2, 40}}) {
    const int w = x1 - x0, h = y1 - y0, columns = 7, rows = 5;
    AreaSampler sampler(image, AreaRule::covered);
    sampler.cover(x0, y0, x1, y1, columns, rows, 127.5f, 0.0078125f);
    std::vector<float> out(3 * columns * rows);
    sampler.all(out.data());
    for (int j = 0; j < rows; ++j)
      for (int i = 0; i < columns; ++i)
        for (int c = 0; c < 3; ++c) {
          double sum = 0;
          for (int y = std::max(0, y0); y < std::min(23, y1); ++y)
            for (int x = std::max(0, x0); x < std::min(31, x1); ++x)
              sum += image.row(y)[3 * x + c] *
                     covered(1. * i * w / columns, (i + 1.) * w / columns, x - x0) *
                     covered(1. * j * h / rows, (j + 1.) * h / rows, y - y0);
          const double mean = sum * columns * rows / (w * h);
          ASSERT_NEAR(out[3 * (j * columns + i) + c], (mean - 127.5) / 128, 1e-5) << i << " " << j;
        }
  }
}

}  // namespace
}  // namespace facebench
