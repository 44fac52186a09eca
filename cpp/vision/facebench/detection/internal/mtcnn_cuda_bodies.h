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

constexpr int kStrip = 4;      // output rows (or pixels) that a thread computes
constexpr int kChannels = 16;  // output channels that it computes

FACEBENCH_BODY int strips_of(int side) { return (side + kStrip - 1) / kStrip; }

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
  unsigned sums[3] = {0, 0, 0};
  for (int y = top + y0; y < bottom + y0; ++y) {
    if (y < 0 || y >= image.height) continue;
    for (int x = left + x0; x < right + x0; ++x) {
      if (x < 0 || x >= image.width) continue;
      const unsigned char* p = image.pixels + 3 * (static_cast<long>(y) * image.width + x);
      for (int c = 0; c < 3; ++c) sums[c] += p[c];
    }
  }
  const float factor =
      0.0078125f / static_cast<float>(bottom - top) * (1 / static_cast<float>(right - left));
  for (int c = 0; c < 3; ++c)
    out[c] = std::fma(static_cast<float>(sums[c]), factor, -127.5f * 0.0078125f);
}

// The same cell by OpenCV's area filter, rounded to 8 bits or not; `rounded` parts lie within the
// image and do not grow.
FACEBENCH_BODY void area_value(const DeviceImage& image, int x0, int y0, int x1, int y1,
                               int columns, int rows, int i, int j, bool rounded, float* out) {
  const int w = x1 - x0, h = y1 - y0;
  const bool less = shrinks(w, h, columns, rows);
  const AreaCell across = less ? covering_cell(i, w, columns) : between_cell(i, w, columns);
  const AreaCell down = less ? covering_cell(j, h, rows) : between_cell(j, h, rows);
  for (int c = 0; c < 3; ++c) {
    if (rounded) {
      const int byte =
          area_byte(image.pixels + c, 3L * image.width, w, h, columns, rows, across, down);
      out[c] = (static_cast<float>(byte) - 127.5f) * 0.0078125f;
      continue;
    }
    float total = 0;
    for (int l = 0; l < down.count; ++l) {
      const int y = y0 + down.first + l;
      if (y < 0 || y >= image.height) continue;
      float row = 0;
      for (int k = 0; k < across.count; ++k) {
        const int x = x0 + across.first + k;
        if (x < 0 || x >= image.width) continue;
        const unsigned char* p = image.pixels + 3 * (static_cast<long>(y) * image.width + x);
        const float weight = k == 0                  ? across.low
                             : k == across.count - 1 ? across.high
                                                     : across.middle;
        row = std::fma(static_cast<float>(p[c]), weight, row);
      }
      const float weight = l == 0 ? down.low : l == down.count - 1 ? down.high : down.middle;
      total = std::fma(row, weight, total);
    }
    out[c] = (total - 127.5f) * 0.0078125f;
  }
}

// A convolution (stride 1, no padding) or a dense layer, and its PReLU.
struct DeviceLayer {
  int kernel, inputs, outputs, blocks;  // blocks of kChannels outputs
  const float* weights;                 // [block][input][y][x][kChannels], 0 beyond the outputs
  const float* bias;                    // [block][kChannels]
  const float* slope;
};

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

// kStrip outputs, `step` rows or pixels apart, `valid` of which exist, of one block of channels.
// `in` and `out` in the planes are those of the first.
FACEBENCH_BODY void convolve_strip(const DeviceLayer& layer, int block, const Planes& p,
                                   long in_step, long out_step, int valid) {
  const int k = layer.kernel;
  const auto* weights = reinterpret_cast<const Four*>(
      layer.weights + static_cast<long>(block) * layer.inputs * k * k * kChannels);
  float sums[kStrip][kChannels];
  for (int s = 0; s < kStrip; ++s)
    for (int o = 0; o < kChannels; ++o) sums[s][o] = layer.bias[block * kChannels + o];
  // Outputs beyond the end are computed from the last valid input, and not stored.
  long starts[kStrip];
  for (int s = 0; s < kStrip; ++s) starts[s] = (s < valid ? s : valid - 1) * in_step;
  for (int i = 0; i < layer.inputs; ++i) {
    for (int y = 0; y < k; ++y) {
      for (int x = 0; x < k; ++x, weights += kChannels / 4) {
        const float* in = p.in + i * p.in_channel + y * p.in_row + x * p.in_pixel;
        float values[kStrip];
        for (int s = 0; s < kStrip; ++s) values[s] = in[starts[s]];
        for (int o = 0; o < kChannels; o += 4) {
          const Four w = weights[o / 4];
          for (int s = 0; s < kStrip; ++s)
            for (int j = 0; j < 4; ++j)
              sums[s][o + j] = std::fma(w.v[j], values[s], sums[s][o + j]);
        }
      }
    }
  }
  const int first = block * kChannels;
  for (int o = 0; o < kChannels && first + o < layer.outputs; ++o) {
    const float slope = layer.slope[first + o];
    for (int s = 0; s < valid; ++s) {
      const float v = sums[s][o];
      p.out[(first + o) * p.out_channel + s * out_step] = v > 0 ? v : v * slope;
    }
  }
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

FACEBENCH_BODY int shorter(int a, int b) { return a < b ? a : b; }

}  // namespace facebench
