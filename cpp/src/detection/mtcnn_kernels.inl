// The body of mtcnn_kernels_*.cc. FACEBENCH_LANES is the number of floats in a vector register,
// FACEBENCH_KERNELS the name of the result.
#include "detection/mtcnn_kernels.h"

namespace facebench {
namespace {

constexpr int kLanes = FACEBENCH_LANES;
// Pixels that share one load of the weights: six times two vectors of sums fit in 16 registers.
constexpr int kPixels = 6;

typedef float Lanes __attribute__((vector_size(4 * FACEBENCH_LANES), aligned(4), may_alias));

const Lanes& load(const float* p) { return *reinterpret_cast<const Lanes*>(p); }

// kPixels pixels, kBlocks vectors of output channels from channel `first` on. `pixels` are the
// addresses of the windows' first values; a row of a window is `run` values long.
template <int kBlocks>
void convolve_tile(const float* const (&pixels)[kPixels], long row_stride, const ConvLayer& layer,
                   int first, int valid, float* out) {
  Lanes sums[kPixels][kBlocks];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 8
    for (int b = 0; b < kBlocks; ++b) sums[p][b] = load(layer.bias + first + b * kLanes);

  const float* weights = layer.weights + first;
  const int run = layer.kernel * layer.inputs;
  for (int y = 0; y < layer.kernel; ++y) {
    const long offset = y * row_stride;
    for (int i = 0; i < run; ++i, weights += layer.padded) {
      Lanes w[kBlocks];
#pragma GCC unroll 8
      for (int b = 0; b < kBlocks; ++b) w[b] = load(weights + b * kLanes);
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) {
        const float value = pixels[p][offset + i];
#pragma GCC unroll 8
        for (int b = 0; b < kBlocks; ++b) sums[p][b] += value * w[b];
      }
    }
  }

#pragma GCC unroll 8
  for (int b = 0; b < kBlocks; ++b) {
    const int channel = first + b * kLanes;
    const int count = layer.outputs - channel < kLanes ? layer.outputs - channel : kLanes;
    const Lanes slope = load(layer.slope + channel);
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) {
      const Lanes v = sums[p][b] > 0 ? sums[p][b] : sums[p][b] * slope;
      if (p >= valid) continue;
      float* target = out + static_cast<long>(p) * layer.outputs + channel;
      if (count == kLanes) {
        *reinterpret_cast<Lanes*>(target) = v;
      } else {
        for (int i = 0; i < count; ++i) target[i] = v[i];
      }
    }
  }
}

// The windows of all output pixels, in order of the output.
struct Windows {
  const float* window;
  long inputs, row_stride;
  int kernel, out_width, out_height;
  int x = 0, y = 0;

  const float* next() {
    const float* here = window;
    window += inputs;
    if (++x == out_width) {
      x = 0;
      window += (kernel - 1) * inputs;
      if (++y == out_height) {
        y = 0;
        window += (kernel - 1) * row_stride;
      }
    }
    return here;
  }
};

void convolve(const float* in, int count, int height, int width, const ConvLayer& layer,
              float* out) {
  const int out_height = height - layer.kernel + 1, out_width = width - layer.kernel + 1;
  const long row_stride = static_cast<long>(width) * layer.inputs;
  const long total = static_cast<long>(count) * out_height * out_width;
  Windows windows{in, layer.inputs, row_stride, layer.kernel, out_width, out_height};
  for (long start = 0; start < total; start += kPixels) {
    const int valid = total - start < kPixels ? static_cast<int>(total - start) : kPixels;
    const float* pixels[kPixels];
    const float* last = nullptr;  // fills up the last tile
    for (int p = 0; p < kPixels; ++p) {
      if (p < valid) last = windows.next();
      pixels[p] = last;
    }
    float* target = out + start * layer.outputs;
    int first = 0;
    for (; first + kLanes < layer.outputs; first += 2 * kLanes)
      convolve_tile<2>(pixels, row_stride, layer, first, valid, target);
    if (first < layer.outputs) convolve_tile<1>(pixels, row_stride, layer, first, valid, target);
  }
}

void max_pool(const float* in, int count, int height, int width, int channels, int window,
              float* out) {
  const int out_height = (height - window + 1) / 2 + 1, out_width = (width - window + 1) / 2 + 1;
  const long row = static_cast<long>(width) * channels;
  for (int n = 0; n < count; ++n, in += height * row) {
    for (int y = 0; y < out_height; ++y) {
      const int rows = height - 2 * y < window ? height - 2 * y : window;
      for (int x = 0; x < out_width; ++x, out += channels) {
        const int columns = width - 2 * x < window ? width - 2 * x : window;
        const float* cell = in + 2 * y * row + 2L * x * channels;
        for (int c = 0; c < channels; ++c) out[c] = cell[c];
        for (int j = 0; j < rows; ++j) {
          for (int i = 0; i < columns; ++i) {
            const float* p = cell + j * row + static_cast<long>(i) * channels;
            for (int c = 0; c < channels; ++c) out[c] = p[c] > out[c] ? p[c] : out[c];
          }
        }
      }
    }
  }
}

}  // namespace

extern const MtcnnKernels FACEBENCH_KERNELS;
const MtcnnKernels FACEBENCH_KERNELS{convolve, max_pool};

}  // namespace facebench
