#pragma once

// MTCNN as work for thousands of threads: what each of them does, in mtcnn_cuda_pnet.h,
// mtcnn_cuda_nms.h and mtcnn_cuda_crops.h (R-Net and O-Net); here is what they share. Every struct
// with an operator() is a kernel; that is the body, for one index, and runs on a device and on the
// processor alike, so that the tests run the same arithmetic and addressing without a device. No
// result is read back to the host in between: counts stay on the device, and candidates that do not
// fit are counted, so that a loss is always noticed.
//
// Maps are planes: value (channel, y, x) lies at channel * channel_stride + y * row_stride +
// x * pixel_stride. P-Net's planes hold all levels of all images one after the other; those of
// R-Net and O-Net hold `lanes` crops side by side for each pixel, so that neighbouring threads read
// neighbouring addresses.

#include <cmath>

#include "facebench/core/host_device.h"
#include "facebench/images/area_cell.h"

namespace facebench {

#define FACEBENCH_BODY FACEBENCH_HOST_DEVICE inline

struct DeviceImage {
  const unsigned char* pixels;
  int width, height;
};

FACEBENCH_BODY int shorter(int a, int b) { return a < b ? a : b; }
FACEBENCH_BODY int longer(int a, int b) { return a > b ? a : b; }

// The sum of the values at in[0], in[stride], ...: exact where the processor's is (AreaSampler).
FACEBENCH_BODY float sum_column(const unsigned char* in, long stride, int count) {
  unsigned sum = 0;
  for (int i = 0; i < count; ++i) sum += in[i * stride];
  return static_cast<float>(sum);
}

// Part [x0, x1) x [y0, y1) of an image; cell (i, j) of columns x rows is the mean of whole pixels,
// as AreaSampler's. Pixels outside of the image are black. Gives (mean - 127.5) / 128 of three
// colours.
FACEBENCH_BODY void mean_cell(const DeviceImage& image, int x0, int y0, int x1, int y1, int columns,
                              int rows, int i, int j, float* out) {
  const long w = x1 - x0, h = y1 - y0;
  const int left = static_cast<int>(i * w / columns);
  const int right = static_cast<int>(((i + 1) * w + columns - 1) / columns);
  const int top = static_cast<int>(j * h / rows);
  const int bottom = static_cast<int>(((j + 1) * h + rows - 1) / rows);
  const int first = longer(top + y0, 0), count = shorter(bottom + y0, image.height) - first;
  const long stride = 3L * image.width;
  float sums[3] = {0, 0, 0};
  for (int x = longer(left + x0, 0); x < shorter(right + x0, image.width); ++x)
    for (int c = 0; c < 3; ++c)
      sums[c] += sum_column(image.pixels + first * stride + 3L * x + c, stride, count);
  const float factor =
      0.0078125f / static_cast<float>(bottom - top) * (1 / static_cast<float>(right - left));
  for (int c = 0; c < 3; ++c) out[c] = std::fma(sums[c], factor, -127.5f * 0.0078125f);
}

// The same cell by OpenCV's area filter, rounded to 8 bits or not; `rounded` parts lie within the
// image and do not grow. Sums are first row, rows between, last row, then columns likewise.
FACEBENCH_BODY void area_value(const DeviceImage& image, int x0, int y0, int x1, int y1,
                               int columns, int rows, int i, int j, bool rounded, float* out) {
  const int w = x1 - x0, h = y1 - y0;
  const bool less = shrinks(w, h, columns, rows);
  const AreaCell across = less ? covering_cell(i, w, columns) : between_cell(i, w, columns);
  const AreaCell down = less ? covering_cell(j, h, rows) : between_cell(j, h, rows);
  const long stride = 3L * image.width;
  // Rows outside of the image leave others at the ends.
  const int top = longer(y0 + down.first, 0);
  const int last_row = shorter(y0 + down.first + down.count, image.height) - 1;
  const int last_column = across.count - 1;
  const auto weight = [](const AreaCell& cell, int k) {
    return k == 0 ? cell.low : k == cell.count - 1 ? cell.high : cell.middle;
  };
  const float first_weight = weight(down, top - y0 - down.first);
  const float last_weight = weight(down, last_row - y0 - down.first);
  for (int c = 0; c < 3; ++c) {
    if (rounded) {
      const int byte =
          area_byte(image.pixels + c, 3L * image.width, w, h, columns, rows, across, down);
      out[c] = (static_cast<float>(byte) - 127.5f) * 0.0078125f;
      continue;
    }
    const auto column = [&](int k) {
      const int x = x0 + across.first + k;
      if (x < 0 || x >= image.width || last_row < top) return 0.f;
      const unsigned char* in = image.pixels + top * stride + 3L * x + c;
      const float sum = static_cast<float>(*in) * first_weight;
      const int more = last_row - top;
      if (more == 0) return sum;
      const float between = sum_column(in + stride, stride, more - 1);
      return std::fma(static_cast<float>(in[more * stride]), last_weight,
                      std::fma(between, down.middle, sum));
    };
    float total = column(0) * across.low;
    float between = 0;
    for (int k = 1; k < last_column; ++k) between += column(k);
    total = std::fma(between, across.middle, total);
    if (last_column > 0) total = std::fma(column(last_column), across.high, total);
    out[c] = (total - 127.5f) * 0.0078125f;
  }
}

// A convolution (stride 1, no padding) or a dense layer, and its PReLU. 3 x 3 convolutions are made
// by pairs of rows as on the processor (mtcnn_kernels.h), in the same order.
struct DeviceLayer {
  int kernel, inputs, outputs;
  bool pairs;
  int channels, blocks;  // blocks of `channels` outputs, one of which a thread computes
  // By pairs [block][2][outer][inner][2][channels], where outer and inner are inputs and x or x and
  // inputs; else [block][y][x][input][channels]. 0 beyond the outputs.
  const float* weights;
  const float* bias;  // [block][channels]
  const float* slope;
};

constexpr int kPairChannels = 8;     // that a thread computes of pairs of rows
constexpr int kDirectChannels = 16;  // else

// Read at once.
struct alignas(16) Four {
  float v[4];
};

struct Planes {
  const float* in;
  long in_channel, in_row, in_pixel;
  float* out;
  long out_channel, out_row, out_pixel;
};

// The values that a sum runs over, in its order.
struct Run {
  int outer;
  long outer_step;
  int inner;
  long inner_step;
};

// sums[q] += weights * the combined rows of pair q: those of m and n, or the two that come later.
template <bool kLater, int kPairs>
FACEBENCH_BODY void add_products(const Four*& weights, const float* in, const Run& run,
                                 const int (&rows)[2 * kPairs + 2],
                                 float (&upper)[kPairs][kPairChannels],
                                 float (&lower)[kPairs][kPairChannels]) {
  for (int i = 0; i < run.outer; ++i) {
    const float* at = in + i * run.outer_step;
#ifdef __CUDA_ARCH__
#pragma unroll 1  // more of them at a time take more registers
#endif
    for (int j = 0; j < run.inner; ++j, at += run.inner_step, weights += 2 * kPairChannels / 4) {
      float d[2 * kPairs + 2];
      for (int k = kLater ? 0 : 1; k < 2 * kPairs + (kLater ? 2 : 1); ++k) d[k] = at[rows[k]];
      float one[kPairs], other[kPairs];
      for (int q = 0; q < kPairs; ++q) {
        one[q] = kLater ? d[2 * q] - d[2 * q + 2] : d[2 * q + 1] + d[2 * q + 2];
        other[q] = kLater ? d[2 * q + 3] - d[2 * q + 1] : d[2 * q + 2] - d[2 * q + 1];
      }
      for (int o = 0; o < kPairChannels; o += 4) {
        const Four w = weights[o / 4];
        for (int q = 0; q < kPairs; ++q)
          for (int l = 0; l < 4; ++l) upper[q][o + l] = std::fma(w.v[l], one[q], upper[q][o + l]);
      }
      for (int o = 0; o < kPairChannels; o += 4) {
        const Four w = weights[(kPairChannels + o) / 4];
        for (int q = 0; q < kPairs; ++q)
          for (int l = 0; l < 4; ++l) lower[q][o + l] = std::fma(w.v[l], other[q], lower[q][o + l]);
      }
    }
  }
}

FACEBENCH_BODY float activated(float v, float slope) { return v > 0 ? v : v * slope; }

// 2 * kPairs rows, `valid` of which exist, of one column and one block of channels of a 3 x 3
// convolution. `in` and `out` in the planes are those of the first.
template <int kPairs>
FACEBENCH_BODY void convolve_pairs(const DeviceLayer& layer, int block, const Planes& p,
                                   const Run& run, int valid) {
  const auto* weights = reinterpret_cast<const Four*>(
      layer.weights + static_cast<long>(block) * layer.inputs * 12 * kPairChannels);
  // Rows beyond the end are computed from the last input row, and not stored.
  int rows[2 * kPairs + 2];
  for (int k = 0; k < 2 * kPairs + 2; ++k)
    rows[k] = shorter(k, valid + 1) * static_cast<int>(p.in_row);
  float upper[kPairs][kPairChannels], lower[kPairs][kPairChannels];
  for (int q = 0; q < kPairs; ++q)
    for (int o = 0; o < kPairChannels; ++o) {
      upper[q][o] = layer.bias[block * kPairChannels + o];
      lower[q][o] = 0;
    }
  add_products<false>(weights, p.in, run, rows, upper, lower);
  for (int q = 0; q < kPairs; ++q)
    for (int o = 0; o < kPairChannels; ++o) {
      const float m = upper[q][o], n = lower[q][o];
      upper[q][o] = m + n;
      lower[q][o] = m - n;
    }
  add_products<true>(weights, p.in, run, rows, upper, lower);
  const int first = block * kPairChannels;
  for (int o = 0; o < kPairChannels && first + o < layer.outputs; ++o) {
    const float slope = layer.slope[first + o];
    float* out = p.out + (first + o) * p.out_channel;
    for (int q = 0; q < kPairs; ++q, out += 2 * p.out_row) {
      if (2 * q < valid) out[0] = activated(upper[q][o], slope);
      if (2 * q + 1 < valid) out[p.out_row] = activated(lower[q][o], slope);
    }
  }
}

// kPixels pixels of a row, `valid` of which exist, of one block of channels of another layer.
template <int kPixels>
FACEBENCH_BODY void convolve_row(const DeviceLayer& layer, int block, const Planes& p, int valid) {
  const int k = layer.kernel;
  const auto* weights = reinterpret_cast<const Four*>(
      layer.weights + static_cast<long>(block) * layer.inputs * k * k * kDirectChannels);
  float sums[kPixels][kDirectChannels];
  for (int s = 0; s < kPixels; ++s)
    for (int o = 0; o < kDirectChannels; ++o) sums[s][o] = layer.bias[block * kDirectChannels + o];
  // Pixels beyond the end are computed from the last valid input, and not stored.
  long starts[kPixels];
  for (int s = 0; s < kPixels; ++s) starts[s] = (s < valid ? s : valid - 1) * p.in_pixel;
  for (int y = 0; y < k; ++y)
    for (int x = 0; x < k; ++x) {
      const float* in = p.in + y * p.in_row + x * p.in_pixel;
      for (int i = 0; i < layer.inputs; ++i, in += p.in_channel, weights += kDirectChannels / 4) {
        float values[kPixels];
        for (int s = 0; s < kPixels; ++s) values[s] = in[starts[s]];
        for (int o = 0; o < kDirectChannels; o += 4) {
          const Four w = weights[o / 4];
          for (int s = 0; s < kPixels; ++s)
            for (int j = 0; j < 4; ++j)
              sums[s][o + j] = std::fma(w.v[j], values[s], sums[s][o + j]);
        }
      }
    }
  const int first = block * kDirectChannels;
  for (int o = 0; o < kDirectChannels && first + o < layer.outputs; ++o)
    for (int s = 0; s < valid; ++s)
      p.out[(first + o) * p.out_channel + s * p.out_pixel] =
          activated(sums[s][o], layer.slope[first + o]);
}

// The largest value of a window that moves by two and may be cut by the edge.
FACEBENCH_BODY float largest(const float* in, long row, long pixel, int rows, int columns) {
  float most = in[0];
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) {
      const float v = in[y * row + x * pixel];
      most = v > most ? v : most;
    }
  return most;
}

}  // namespace facebench
