#pragma once

// The arithmetic of MTCNN's networks. Included by files that are compiled for several instruction
// sets, so it includes nothing: an inline function of a standard header, compiled there, could be
// the copy that the linker keeps for everybody.

namespace facebench {

// A square convolution without padding, stride 1, then PReLU. Values are [count][y][x][channel].
struct ConvLayer {
  int kernel = 1;
  int inputs = 0;
  int outputs = 0;
  int padded = 0;                  // outputs, rounded up to a multiple of 16
  const float* weights = nullptr;  // [kernel][kernel * inputs][padded]
  const float* bias = nullptr;     // [padded]
  const float* slope = nullptr;    // [padded]; 1 = no activation
};

struct MtcnnKernels {
  // in: [count][height][width][inputs]; out: [count][height - k + 1][width - k + 1][outputs].
  void (*convolve)(const float* in, int count, int height, int width, const ConvLayer& layer,
                   float* out);
  // Largest value of each window x window cell, stride 2; cells at the far edges may be cut, so
  // that no pixel is left out. Output side: ceil((side - window) / 2) + 1.
  void (*max_pool)(const float* in, int count, int height, int width, int channels, int window,
                   float* out);
};

extern const MtcnnKernels kMtcnnKernelsPlain;
extern const MtcnnKernels kMtcnnKernelsAvx2;  // where the compiler can make them
extern const MtcnnKernels kMtcnnKernelsAvx512;

}  // namespace facebench
