#include "metrics/pair_panels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace facebench {
namespace {

// Upper half of the nearest bfloat16, ties to even. Not for NaN.
std::uint32_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
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
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t index = which[static_cast<std::size_t>(i)];
    const float* values = set.row(index).data();
    const double scale = 1 / set.length(index);
    std::uint32_t* target = out + (i / width) * width * groups + i % width;
    double squares = 0;
    for (std::int64_t k = 0; k < dim; ++k) {
      const double unit = values[k] * scale;
      auto rounded = static_cast<float>(unit);
      // Some instructions take numbers below the normal ones for zero.
      if (std::abs(rounded) < std::numeric_limits<float>::min()) rounded = 0;
      std::uint32_t bits = std::bit_cast<std::uint32_t>(rounded);
      if (kernels.group == 1) {
        target[k * width] = bits;
      } else {
        bits = to_bfloat16(rounded);
        target[k / 2 * width] |= k % 2 == 0 ? bits >> 16 : bits;
      }
      const double off = unit - std::bit_cast<float>(bits);
      squares += off * off;
    }
    furthest = std::max(furthest, std::sqrt(squares));
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
