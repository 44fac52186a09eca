#pragma once

// What follows the sums of a convolution; for the kernels of inference alone.

#include "facebench/nn/inference/block_vectors.h"

namespace facebench {
namespace {

// Applies what follows the sums of one row of pixels, (blocks, of_block pixels), and stores them.
// Not part of the tiles: it would be most of their code.
[[gnu::noinline]] void finish(const ConvWork& w, const float* sums, int blocks, long of_block,
                              long pixels, long y, long x) {
  if (w.larger_of_two) blocks = 1;
  for (int b = 0; b < blocks; ++b, sums += of_block * kLanes) {
    const long c = b * kLanes, column = x * kLanes;
    const Floats slope = slope_of(w.activation, c);
    const float* residual =
        w.residual.data ? w.residual.data + b * w.residual.block + y * w.residual.row + column
                        : nullptr;
    float* out = w.out.data ? w.out.data + b * w.out.block + y * w.out.row + column : nullptr;
    float* affine =
        w.affine.data ? w.affine.data + b * w.affine.block + y * w.affine.row + column : nullptr;
    const Floats scale = affine ? load(w.affine_scale + c) : Floats{};
    const Floats shift = affine ? load(w.affine_shift + c) : Floats{};
    const Floats affine_slope = affine ? slope_of(w.affine_activation, c) : Floats{};
    for (long i = 0; i < pixels * kLanes; i += kLanes) {
      Floats v = load(sums + i);
      if (w.larger_of_two) v = larger(v, load(sums + of_block * kLanes + i));
      if (residual && w.residual_first) v += load(residual + i);
      v = activate(v, w.activation.kind, slope);
      if (residual && !w.residual_first) v += load(residual + i);
      if (out) store(out + i, v);
      if (affine)
        store(affine + i, activate(v * scale + shift, w.affine_activation.kind, affine_slope));
    }
  }
}

}  // namespace
}  // namespace facebench
