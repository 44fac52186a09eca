// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#include "facebench/detection/internal/dlib_cnn_kernels.h"
#include "facebench/detection/internal/channel_tile.h"

namespace facebench {
namespace {

// The last tile ends with the row, over pixels that have been computed; a row that is narrower than
// a tile goes pixel by pixel.
template <int kPixels, int kBlocks>
void row_of_tiles(const float* in, long pixel, long row, int width, const ConvLayer& layer,
                  float* out) {
  const int run = layer.kernel * layer.inputs;
  for (int first = 0; first < layer.padded; first += kBlocks * kLanes) {
    for (int x = 0; width >= kPixels && x < width; x += kPixels) {
      const int at = x + kPixels <= width ? x : width - kPixels;
      channel_tile<kPixels, kBlocks>(in + at * pixel, pixel, layer.kernel, run, row, layer, first,
                                     out + static_cast<long>(at) * layer.padded, layer.padded);
    }
    for (int x = 0; width < kPixels && x < width; ++x)
      channel_tile<1, kBlocks>(in + x * pixel, pixel, layer.kernel, run, row, layer, first,
                               out + static_cast<long>(x) * layer.padded, layer.padded);
  }
}

// The sums of a tile fill the registers: 16, of AVX-512 32.
void convolve_row(const float* in, long pixel, long row, int width, const ConvLayer& layer,
                  float* out) {
#if FACEBENCH_LANES == 16
  if (layer.padded % 48 == 0) return row_of_tiles<8, 3>(in, pixel, row, width, layer, out);
  row_of_tiles<12, 1>(in, pixel, row, width, layer, out);
#else
  row_of_tiles<6, 2>(in, pixel, row, width, layer, out);
#endif
}

}  // namespace

extern const DlibCnnKernels FACEBENCH_FOR_ISA(kDlibCnnKernels);
const DlibCnnKernels FACEBENCH_FOR_ISA(kDlibCnnKernels){convolve_row};

}  // namespace facebench
