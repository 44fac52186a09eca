#pragma once

namespace facebench {

// A square convolution without padding, stride 1, then PReLU, or a dense layer (kernel 1). Values
// are [y][x][channel].
struct ConvLayer {
  int kernel = 1;
  int inputs = 0;
  int outputs = 0;
  int padded = 0;  // outputs, rounded up to a multiple of 16
  // [padded / 16][kernel][kernel * inputs][16]; where the kernel is 3,
  // [padded / 16][4][3 * inputs][16], in the order of PlanarLayer's.
  const float* weights = nullptr;
  const float* bias = nullptr;   // [padded]
  const float* slope = nullptr;  // [padded]; 1 = no activation
};

}  // namespace facebench
