#pragma once

// The arithmetic of MTCNN's fast path. Included by files that are compiled for several instruction
// sets, so it includes no header with functions: the linker might keep one that was compiled there
// for the whole program, and older processors cannot run it.
//
// P-Net works on rows of planes, pixels in the lanes of a register; R-Net and O-Net on crops with
// interleaved channels, output channels in the lanes. Each number is summed in an order that
// depends on its layer and row alone, so that neither the size of a tile nor what else is computed
// beside it changes a bit.
//
// 3 x 3 convolutions make two output rows out of four input rows d0..d3 with two thirds of the
// multiplications (Winograd's F(2, 3), down the columns; Lavin & Gray 2016, "Fast algorithms for
// convolutional neural networks"): with the kernel's rows g0..g2,
//   m = (d1 + d2) * (g0 + g1 + g2) / 2,  n = (d2 - d1) * (g0 - g1 + g2) / 2,
//   upper = m + n + (d0 - d2) * g0,      lower = m - n + (d3 - d1) * g2,
// where * is the convolution along the row. Sums and differences of rows are made once for all
// output channels, and both output rows stay in registers from the first product to the last.

#include "facebench/detection/internal/conv_layer.h"

namespace facebench {

// Four input rows -> two output rows of a 3 x 3 convolution and its PReLU, without padding. Channel
// c of a row begins c * stride values after its address.
struct PlanarLayer {
  const float* weights;  // [4][inputs][3][outputs]: of d1 + d2, d2 - d1, d0 - d2, d3 - d1
  const float* bias;
  const float* slope;
};

struct MtcnnKernels {
  // How many values beyond the end of a row may be read or written.
  static constexpr int slack = 32;

  // P-Net's layers, `width` output pixels of both rows. conv1: 3 -> 10 channels, conv2: 10 -> 16,
  // conv3: 16 -> 32.
  using PlanarRows = void (*)(const float* const* rows, long stride, int width,
                              const PlanarLayer& layer, float* upper, float* lower,
                              long out_stride);
  PlanarRows pnet_conv1, pnet_conv2, pnet_conv3;
  // Largest of 2 x 2 values, `width` output pixels of 10 channels.
  void (*pnet_pool)(const float* top, const float* bottom, long stride, int width, float* out,
                    long out_stride);
  // out[x] = bias + sum over 32 channels of weights[c] * in[c * stride + x].
  void (*pnet_score)(const float* in, long stride, int width, const float* weights, float bias,
                     float* out);

  // Layers 1 to 3 of R-Net with their pools: [24][24][3] -> [3][3][64].
  void (*rnet_features)(const float* crop, const ConvLayer* layers, float* scratch,
                        float* features);
  // Layers 1 to 4 of O-Net with their pools: [48][48][3] -> [3][3][128].
  void (*onet_features)(const float* crop, const ConvLayer* layers, float* scratch,
                        float* features);
  // Values that the scratch memory of rnet_features and onet_features needs.
  static constexpr long scratch =
      4 * 46 * 32 + 23 * 23 * 32 + 10 * 10 * 64 + 4 * 4 * 64 + 4 * 23 * 32 + 128;

  // in[count][inputs] -> out[count][padded].
  void (*dense)(const float* in, int count, const ConvLayer& layer, float* out);
};

extern const MtcnnKernels kMtcnnKernelsPlain;
extern const MtcnnKernels kMtcnnKernelsAvx2;  // where the compiler can make them
extern const MtcnnKernels kMtcnnKernelsAvx512;

}  // namespace facebench
