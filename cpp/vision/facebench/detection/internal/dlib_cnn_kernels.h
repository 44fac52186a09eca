#pragma once

// The arithmetic of dlib's CNN detector. It includes no header with functions, as mtcnn_kernels.h.
#include "facebench/detection/internal/conv_layer.h"

namespace facebench {

struct DlibCnnKernels {
  // A row of `width` outputs of a convolution. The windows begin `pixel` values apart; each is
  // layer.kernel rows of layer.kernel * layer.inputs values, `row` values apart.
  // in -> out[width][layer.padded].
  void (*convolve_row)(const float* in, long pixel, long row, int width, const ConvLayer& layer,
                       float* out);
};

extern const DlibCnnKernels kDlibCnnKernelsPlain;
extern const DlibCnnKernels kDlibCnnKernelsAvx2;  // where the compiler can make them
extern const DlibCnnKernels kDlibCnnKernelsAvx512;

}  // namespace facebench
