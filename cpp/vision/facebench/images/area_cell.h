#pragma once

// OpenCV's area filter (INTER_AREA): the pixels under a cell and their weights, for the processor
// and for devices. As modules/imgproc/src/resize.cpp of OpenCV 4 computes them.

#include <cmath>

#include "facebench/core/host_device.h"

namespace facebench {

// Along one side: the first pixel under a cell, how many there are, and the weights of the first,
// of those between, and of the last. A cell of one pixel has the weight `low`.
struct AreaCell {
  int first, count;
  float low, middle, high;
};

// Whether the filter is one of areas. If a side grows, both are interpolated.
FACEBENCH_HOST_DEVICE inline bool shrinks(int width, int height, int columns, int rows) {
  return columns <= width && rows <= height;
}

// Cell i of n over a side of s >= n pixels: pixels count as far as the cell covers them.
FACEBENCH_HOST_DEVICE inline AreaCell covering_cell(int i, int s, int n) {
  const double scale = 1 / (static_cast<double>(n) / s);
  const double begin = i * scale, end = begin + scale;
  const double rest = s - begin, width = scale < rest ? scale : rest;
  int from = static_cast<int>(begin), to = static_cast<int>(end);  // neither is negative
  from += from < begin;
  to = to < s - 1 ? to : s - 1;
  from = from < to ? from : to;
  const auto whole = static_cast<float>(1 / width);
  AreaCell cell{from, to - from, whole, whole, whole};
  if (from - begin > 1e-3) {
    --cell.first;
    ++cell.count;
    cell.low = static_cast<float>((from - begin) / width);
  }
  if (end - to > 1e-3) {
    double share = end - to < 1 ? end - to : 1;
    share = share < width ? share : width;
    cell.high = static_cast<float>(share / width);
    if (++cell.count == 1) cell.low = cell.high;
  }
  return cell;
}

// Cell i of n over a side of s pixels, where the image grows: between two pixels.
FACEBENCH_HOST_DEVICE inline AreaCell between_cell(int i, int s, int n) {
  const double inverse = static_cast<double>(n) / s, scale = 1 / inverse;
  const int first = static_cast<int>(i * scale);
  auto share = static_cast<float>((i + 1) - (first + 1) * inverse);
  share = share <= 0 ? 0 : share - std::floor(share);
  if (first >= s - 1 || share == 0) return {first < s - 1 ? first : s - 1, 1, 1, 0, 0};
  return {first, 2, 1 - share, 0, share};
}

// One value of an image of three bytes a pixel that becomes smaller, as OpenCV rounds it: the same
// operations in the same order (no compiler here fuses a * b + c). `in` is the value of the image's
// first pixel.
FACEBENCH_HOST_DEVICE inline int area_byte(const unsigned char* in, long stride, int width,
                                           int height, int columns, int rows, const AreaCell& x,
                                           const AreaCell& y) {
  in += y.first * stride + 3L * x.first;
  if (width % columns == 0 && height % rows == 0) {
    int sum = 0;
    for (int j = 0; j < y.count; ++j)
      for (int i = 0; i < x.count; ++i) sum += in[j * stride + 3L * i];
    if (x.count == 2 && y.count == 2) return (sum + 2) >> 2;
    const float share = 1.f / static_cast<float>(x.count * y.count);
    return static_cast<int>(std::rint(static_cast<float>(sum) * share));
  }
  float total = 0;
  for (int j = 0; j < y.count; ++j) {
    float row = 0;
    for (int i = 0; i < x.count; ++i) {
      const float weight = i == 0 ? x.low : i == x.count - 1 ? x.high : x.middle;
      row += static_cast<float>(in[j * stride + 3L * i]) * weight;
    }
    const float weight = j == 0 ? y.low : j == y.count - 1 ? y.high : y.middle;
    total += weight * row;
  }
  const float byte = std::rint(total);
  return static_cast<int>(byte < 255 ? byte : 255.f);
}

}  // namespace facebench
