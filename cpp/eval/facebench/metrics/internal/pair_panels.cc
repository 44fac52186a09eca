#include "facebench/metrics/internal/pair_panels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace facebench {
namespace {

// Upper half of the nearest bfloat16, ties to even. Not for NaN.
std::uint32_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
}

// The unit vector along `values` in float32. Returns the squared distance between the two.
double round_to_float(std::span<const float> values, double length, std::uint32_t* out) {
  double squares = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double unit = values[k] / length;
    auto rounded = static_cast<float>(unit);
    // Some instructions take numbers below the normal ones for zero.
    if (std::abs(rounded) < std::numeric_limits<float>::min()) rounded = 0;
    out[k] = std::bit_cast<std::uint32_t>(rounded);
    squares += (unit - rounded) * (unit - rounded);
  }
  return squares;
}

// The same in bfloat16, whose numbers are the upper halves of the words. bfloat16 rounds off much
// more than float32 does, so float32 measures that distance well enough: to a thousandth of it,
// which is added.
double round_to_half(std::span<const float> values, double length, std::uint32_t* out) {
  if (!(length > 1e-30 && length < 1e30)) {  // its inverse, or what it scales, may not be a float
    std::vector<float> units(values.size());
    std::ranges::transform(values, units.begin(),
                           [&](float v) { return static_cast<float>(v / length); });
    return round_to_half(units, 1, out);
  }
  constexpr std::size_t lanes = 16;  // sums side by side, for the compiler
  const auto scale = static_cast<float>(1 / length);
  float squares[lanes] = {};
  const auto one = [&](std::size_t k, std::size_t lane) {
    const float unit = values[k] * scale;
    const std::uint32_t bits = to_bfloat16(unit);
    const float rounded = std::bit_cast<float>(bits);
    const bool normal = std::abs(rounded) >= std::numeric_limits<float>::min();
    out[k] = normal ? bits : 0;
    const float off = unit - (normal ? rounded : 0);
    squares[lane] += off * off;
  };
  std::size_t k = 0;
  for (; k + lanes <= values.size(); k += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) one(k + lane, lane);
  for (; k < values.size(); ++k) one(k, 0);
  double sum = 0;
  for (const float s : squares) sum += s;
  // And float32's own rounding of the unit vector.
  const double distance = std::sqrt(sum) * 1.001 + 0x1p-22;
  return distance * distance;
}

}  // namespace

std::int64_t panel_groups(const FilterKernels& kernels, std::int64_t dim) {
  return (dim + kernels.group - 1) / kernels.group;
}

double pack_panels(const EmbeddingRows& set, std::span<const std::int32_t> which, int width,
                   const FilterKernels& kernels, std::uint32_t* out) {
  const std::int64_t dim = set.dim(), groups = panel_groups(kernels, dim);
  const auto count = static_cast<std::int64_t>(which.size());
  std::fill(out, out + (count + width - 1) / width * width * groups, 0u);
  double furthest = 0;
  std::vector<std::uint32_t> packed(static_cast<std::size_t>(dim));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t index = which[static_cast<std::size_t>(i)];
    const auto round = kernels.group == 1 ? round_to_float : round_to_half;
    const double squares = round(set.row(index), set.length(index), packed.data());
    furthest = std::max(furthest, std::sqrt(squares));
    std::uint32_t* target = out + (i / width) * width * groups + i % width;
    if (kernels.group == 1) {
      for (std::int64_t k = 0; k < dim; ++k) target[k * width] = packed[k];
    } else {
      for (std::int64_t k = 0; k + 1 < dim; k += 2)
        target[k / 2 * width] = packed[k] >> 16 | packed[k + 1];
      if (dim % 2) target[dim / 2 * width] = packed[dim - 1] >> 16;
    }
  }
  return furthest;
}

double filter_margin(double row_distance, double column_distance, std::int64_t dim) {
  // An instruction for pairs of products may round twice for each of them.
  const double n = 2 * static_cast<double>(dim) + 8;
  const double sum = n * 0x1p-24 / (1 - n * 0x1p-24);
  // And the cosine in double is itself rounded, as are the distances.
  const double exact = 4 * n * 0x1p-53;
  return row_distance + column_distance + row_distance * column_distance +
         sum * (1 + row_distance) * (1 + column_distance) + exact + 1e-12;
}

}  // namespace facebench
