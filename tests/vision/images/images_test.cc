#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <span>
#include <string>

#include "facebench/core/error.h"
#include "facebench/core/isa.h"
#include "facebench/core/random.h"
#include "facebench/images/area_sampler.h"
#include "facebench/images/decode.h"
#include "facebench/images/draw.h"
#include "facebench/images/encode.h"
#include "facebench/images/resize.h"
#include "facebench/images/warp.h"

namespace facebench {
namespace {

Image pattern(int width, int height, ColorOrder order = ColorOrder::rgb) {
  Image image(width, height, order);
  for (std::size_t i = 0; i < image.data.size(); ++i)
    image.data[i] = static_cast<std::uint8_t>((i * 37 + i * i / 11) % 256);
  return image;
}

Image decode(std::string_view bytes, const DecodeOptions& options = {}) {
  return decode_image(std::as_bytes(std::span(bytes)), options, "test");
}

TEST(Image, RefusesImpossibleSizes) {
  EXPECT_THROW(Image(0, 5), std::invalid_argument);
  EXPECT_THROW(Image(5, -1), std::invalid_argument);
  EXPECT_THROW(Image(1 << 20, 1 << 20), std::invalid_argument);
  Image wrong = pattern(3, 3);
  wrong.width = 4;
  EXPECT_THROW(check_image(wrong), std::invalid_argument);
}

TEST(Image, ColourOrdersConvertBackAndForth) {
  const Image rgb = pattern(7, 5);
  const Image bgr = convert_color(rgb, ColorOrder::bgr);
  EXPECT_EQ(bgr.data[0], rgb.data[2]);
  EXPECT_EQ(convert_color(bgr, ColorOrder::rgb), rgb);
  EXPECT_EQ(convert_color(rgb, ColorOrder::gray), convert_color(bgr, ColorOrder::gray));
  EXPECT_THROW(parse_color_order("rbg"), std::invalid_argument);
}

TEST(Codec, LosslessFormatsRoundTrip) {
  for (const ColorOrder order : {ColorOrder::rgb, ColorOrder::bgr, ColorOrder::gray}) {
    const Image image = pattern(13, 9, order);
    DecodeOptions options;
    options.color = color_order_name(order);
    EXPECT_EQ(decode(encode_png(image), options), image);
    EXPECT_EQ(decode(encode_pnm(image), options), image);
    EXPECT_EQ(encode_jpeg(image), encode_jpeg(image));
  }
}

TEST(Codec, TruncatedFilesAreErrorsThatSaySo) {
  const Image image = pattern(40, 40);
  for (const std::string& file : {encode_jpeg(image), encode_png(image), encode_pnm(image)}) {
    try {
      decode(std::string_view(file).substr(0, file.size() * 3 / 4));
      FAIL() << "decoded half a file";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("test: "), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("truncated"), std::string::npos) << e.what();
    }
  }
}

TEST(Codec, PixelLimitHoldsForEveryFormat) {
  const Image image = pattern(20, 10);
  DecodeOptions options;
  options.max_pixels = 199;
  for (const std::string& file : {encode_jpeg(image), encode_png(image), encode_pnm(image)}) {
    EXPECT_THROW(decode(file, options), Error);
    options.max_pixels = 200;
    EXPECT_EQ(decode(file, options).width, 20);
    options.max_pixels = 199;
  }
}

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

TEST(Resize, Cut) {
  const Image image = pattern(6, 4);
  const Image part = cut(image, 1, 1, 4, 3);
  EXPECT_EQ(part.width, 3);
  EXPECT_EQ(part.row(1)[0], image.row(2)[3]);
  EXPECT_THROW(cut(image, 0, 0, 7, 4), std::out_of_range);
  EXPECT_THROW(cut(image, 2, 0, 2, 4), std::out_of_range);
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
