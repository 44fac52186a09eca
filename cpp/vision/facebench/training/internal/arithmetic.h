#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "facebench/nn/threads.h"
#include "facebench/nn/torch_arithmetic.h"

namespace facebench {

// How torch computes while a training runs: its number of threads, and whether it must choose
// kernels that give the same bits each time (CUDA; on the CPU ours do). As before afterwards.
struct ArithmeticSettings {
  ArithmeticSettings(int threads, bool deterministic)
      : threads(threads), arithmetic(deterministic) {}

  TorchThreads threads;
  TorchArithmetic arithmetic;
};

// What the words of TrainingOptions::dtype stand for.
struct Precision {
  at::ScalarType weights = at::kFloat;
  bool autocast = false;  // bfloat16 where torch's autocast computes in it
};
Precision precision_of(const std::string& dtype);

// torch.autocast(device, torch.bfloat16) as a scope: torch's lists of operations decide what is
// computed in bfloat16 and what in float32; each weight is converted once. Nothing where `on` is
// false.
class Autocast {
 public:
  Autocast(bool on, at::DeviceType device);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool on_;
  at::DeviceType device_;
  bool enabled_before_ = false;
  at::ScalarType dtype_before_ = at::kBFloat16;
};

}  // namespace facebench
