#include "facebench/nn/torch_arithmetic.h"

#include <ATen/Context.h>

namespace facebench {

TorchArithmetic::TorchArithmetic(bool deterministic, bool tf32)
    : deterministic_before_(at::globalContext().deterministicAlgorithms()),
      cudnn_before_(at::globalContext().deterministicCuDNN()),
      benchmark_before_(at::globalContext().benchmarkCuDNN()),
      cublas_tf32_before_(at::globalContext().allowTF32CuBLAS()),
      cudnn_tf32_before_(at::globalContext().allowTF32CuDNN()) {
  at::Context& context = at::globalContext();
  context.setAllowTF32CuBLAS(tf32);
  context.setAllowTF32CuDNN(tf32);
  if (!deterministic) return;
  context.setDeterministicAlgorithms(true, /*warn_only=*/false);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
}

TorchArithmetic::~TorchArithmetic() {
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(deterministic_before_,
                                     context.deterministicAlgorithmsWarnOnly());
  context.setDeterministicCuDNN(cudnn_before_);
  context.setBenchmarkCuDNN(benchmark_before_);
  context.setAllowTF32CuBLAS(cublas_tf32_before_);
  context.setAllowTF32CuDNN(cudnn_tf32_before_);
}

}  // namespace facebench
