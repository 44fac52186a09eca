#pragma once

namespace facebench {

// How torch computes on a card in this scope, as before afterwards. Deterministic: kernels that
// give the same bits each time, cuDNN's without a search for the fastest. TF32: products of float32
// rounded to 10 bits. Settings of the process: one scope at a time, on the thread that computes.
class TorchArithmetic {
 public:
  explicit TorchArithmetic(bool deterministic, bool tf32 = false);
  ~TorchArithmetic();
  TorchArithmetic(const TorchArithmetic&) = delete;
  TorchArithmetic& operator=(const TorchArithmetic&) = delete;

 private:
  bool deterministic_before_, cudnn_before_, benchmark_before_, cublas_tf32_before_,
      cudnn_tf32_before_;
};

}  // namespace facebench
