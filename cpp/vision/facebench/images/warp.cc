#include "facebench/images/warp.h"

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace facebench {
namespace {

// Positions have this many binary digits more before they are rounded to a rule's steps.
constexpr int kMoreBits = 5;

std::int64_t whole(double value) {
  constexpr double kMost = 1e18;  // two of them fit a sum
  if (std::abs(value) < kMost) return std::llrint(value);
  return static_cast<std::int64_t>(value > 0 ? kMost : -kMost);
}

// Where target pixels come from: the position of (x, y) is columns[x] + rows[y].
struct Positions {
  std::vector<std::int64_t> columns_x, columns_y, rows_x, rows_y;
};

// The inverse is computed as OpenCV computes it: invert_affine() rounds its last digit otherwise.
Positions positions_of(const Affine& m, int width, int height, int bits) {
  const double inverse = 1 / (m[0] * m[4] - m[1] * m[3]);
  const double a = m[4] * inverse, b = m[1] * -inverse, d = m[3] * -inverse, e = m[0] * inverse;
  const double c = -a * m[2] - b * m[5], f = -d * m[2] - e * m[5];
  const double scale = std::ldexp(1, bits + kMoreBits);
  constexpr std::int64_t half = 1 << (kMoreBits - 1);
  Positions p;
  for (int x = 0; x < width; ++x) {
    p.columns_x.push_back(whole(a * x * scale));
    p.columns_y.push_back(whole(d * x * scale));
  }
  for (int y = 0; y < height; ++y) {
    p.rows_x.push_back(whole((b * y + c) * scale) + half);
    p.rows_y.push_back(whole((e * y + f) * scale) + half);
  }
  return p;
}

// Of four pixels, `right` and `below` in steps of 1 / 2^bits.
template <int bits>
std::uint8_t blend(int p00, int p01, int p10, int p11, std::int64_t right, std::int64_t below) {
  constexpr std::int64_t one = std::int64_t{1} << bits;
  const std::int64_t top = one * p00 + right * (p01 - p00);
  const std::int64_t bottom = one * p10 + right * (p11 - p10);
  return static_cast<std::uint8_t>(
      (one * top + below * (bottom - top) + (std::int64_t{1} << (2 * bits - 1))) >> (2 * bits));
}

#if defined(__SSE2__)
// blend<5> of three channels at once. Reads eight bytes of each row and writes four.
void blend_three(const std::uint8_t* top, const std::uint8_t* bottom, int right, int below,
                 std::uint8_t* out) {
  const auto load = [](const std::uint8_t* p) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  };
  const auto weights = [](int share) { return _mm_set1_epi32((32 - share) | share << 16); };
  const __m128i zero = _mm_setzero_si128();
  const __m128i pairs = _mm_unpacklo_epi8(load(top), load(bottom));
  const __m128i left_pixel = _mm_madd_epi16(_mm_unpacklo_epi8(pairs, zero), weights(below));
  const __m128i right_pixel =
      _mm_madd_epi16(_mm_unpacklo_epi8(_mm_srli_si128(pairs, 6), zero), weights(below));
  const __m128i sums =
      _mm_madd_epi16(_mm_or_si128(left_pixel, _mm_slli_epi32(right_pixel, 16)), weights(right));
  const __m128i rounded = _mm_srli_epi32(_mm_add_epi32(sums, _mm_set1_epi32(512)), 10);
  const __m128i bytes = _mm_packus_epi16(_mm_packs_epi32(rounded, rounded), zero);
  const int four = _mm_cvtsi128_si32(bytes);
  std::memcpy(out, &four, 4);
}
#endif

// One row of the result.
template <int bits, int channels>
class RowWarp {
 public:
  RowWarp(const Image& image, const Positions& p, int row, std::uint8_t border)
      : image_(image),
        columns_x_(p.columns_x.data()),
        columns_y_(p.columns_y.data()),
        row_x_(p.rows_x[static_cast<std::size_t>(row)]),
        row_y_(p.rows_y[static_cast<std::size_t>(row)]),
        stride_(static_cast<std::int64_t>(image.stride())),
        border_(border) {}

  // The pixels whose neighbours all lie inside follow each other, since positions only grow or only
  // shrink along a row. Among these is not the last of the row: a store of four bytes would reach
  // beyond it.
  void write(std::uint8_t* out, int width) const {
    int begin = 0, end = width - 1;
    while (begin < end && !inside(begin)) ++begin;
    while (end > begin && !inside(end - 1)) --end;
    for (int i = 0; i < begin; ++i) write_any(i, out + i * channels);
    for (int i = begin; i < end; ++i) write_inside(i, out + i * channels);
    for (int i = end; i < width; ++i) write_any(i, out + i * channels);
  }

 private:
  static constexpr std::int64_t kMask = (std::int64_t{1} << bits) - 1;

  std::int64_t x(int i) const { return (row_x_ + columns_x_[i]) >> kMoreBits; }
  std::int64_t y(int i) const { return (row_y_ + columns_y_[i]) >> kMoreBits; }

  // Less a column on the right, since eight bytes of a row are read.
  bool inside(int i) const {
    const std::int64_t left = x(i) >> bits, top = y(i) >> bits;
    return left >= 0 && left < image_.width - 2 && top >= 0 && top < image_.height - 1;
  }

  void write_inside(int i, std::uint8_t* out) const {
    const std::int64_t right = x(i), below = y(i);
    const std::uint8_t* above =
        image_.data.data() + (below >> bits) * stride_ + (right >> bits) * channels;
    const std::uint8_t* under = above + stride_;
#if defined(__SSE2__)
    if constexpr (bits == 5 && channels == 3) {
      blend_three(above, under, static_cast<int>(right & kMask), static_cast<int>(below & kMask),
                  out);
      return;
    }
#endif
    for (int c = 0; c < channels; ++c)
      out[c] = blend<bits>(above[c], above[c + channels], under[c], under[c + channels],
                           right & kMask, below & kMask);
  }

  void write_any(int i, std::uint8_t* out) const {
    const std::int64_t left = x(i) >> bits, top = y(i) >> bits;
    for (int c = 0; c < channels; ++c) {
      const auto at = [&](std::int64_t u, std::int64_t v) -> int {
        const bool within = u >= 0 && v >= 0 && u < image_.width && v < image_.height;
        return within ? image_.row(static_cast<int>(v))[u * channels + c] : border_;
      };
      out[c] = blend<bits>(at(left, top), at(left + 1, top), at(left, top + 1),
                           at(left + 1, top + 1), x(i) & kMask, y(i) & kMask);
    }
  }

  const Image& image_;
  const std::int64_t *columns_x_, *columns_y_;
  std::int64_t row_x_, row_y_, stride_;
  std::uint8_t border_;
};

template <int bits, int channels>
void warp_rows(const Image& image, const Affine& m, std::uint8_t border, Image& result) {
  const Positions positions = positions_of(m, result.width, result.height, bits);
  for (int y = 0; y < result.height; ++y)
    RowWarp<bits, channels>(image, positions, y, border).write(result.row(y), result.width);
}

}  // namespace

Affine invert_affine(const Affine& m) {
  const double determinant = m[0] * m[4] - m[1] * m[3];
  for (const double v : m)
    if (!std::isfinite(v)) throw std::invalid_argument("the affine map is not finite");
  if (determinant == 0 || !std::isfinite(1 / determinant))
    throw std::invalid_argument("the affine map has no inverse");
  const double a = m[4] / determinant, b = -m[1] / determinant;
  const double d = -m[3] / determinant, e = m[0] / determinant;
  return {a, b, -a * m[2] - b * m[5], d, e, -d * m[2] - e * m[5]};
}

const Table<WarpRuleEntry>& warp_rules() {
  static const Table<WarpRuleEntry> table(
      "warp",
      {{"opencv4", "positions in steps of 1/32 pixel: the bytes of OpenCV 4's warpAffine",
        WarpRule::opencv4},
       {"exact", "bilinear at the position itself, in steps of 1/65,536 pixel", WarpRule::exact}});
  return table;
}

WarpRule parse_warp_rule(std::string_view name) { return warp_rules().at(name).value; }

Image warp_affine(const Image& image, const Affine& m, int width, int height, std::uint8_t border,
                  WarpRule rule) {
  check_image(image);
  invert_affine(m);  // refuses what has no inverse
  Image result(width, height, image.order);
  const bool exact = rule == WarpRule::exact, gray = image.channels() == 1;
  const auto warp = exact ? (gray ? warp_rows<16, 1> : warp_rows<16, 3>)
                          : (gray ? warp_rows<5, 1> : warp_rows<5, 3>);
  warp(image, m, border, result);
  return result;
}

}  // namespace facebench
