#include "facebench/training/internal/arithmetic.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>

namespace facebench {

ArithmeticSettings::ArithmeticSettings(int threads, bool deterministic)
    : threads_(threads),
      deterministic_before_(at::globalContext().deterministicAlgorithms()),
      cudnn_before_(at::globalContext().deterministicCuDNN()),
      benchmark_before_(at::globalContext().benchmarkCuDNN()) {
  if (!deterministic) return;
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/false);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
}

ArithmeticSettings::~ArithmeticSettings() {
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(deterministic_before_,
                                     context.deterministicAlgorithmsWarnOnly());
  context.setDeterministicCuDNN(cudnn_before_);
  context.setBenchmarkCuDNN(benchmark_before_);
}

Precision precision_of(const std::string& dtype) {
  if (dtype == "float64") return {at::kDouble, false};
  return {at::kFloat, dtype == "bfloat16"};
}

Autocast::Autocast(bool on, at::DeviceType device) : on_(on), device_(device) {
  if (!on_) return;
  enabled_before_ = at::autocast::is_autocast_enabled(device_);
  dtype_before_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, at::kBFloat16);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!on_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_dtype(device_, dtype_before_);
  at::autocast::set_autocast_enabled(device_, enabled_before_);
}

}  // namespace facebench
