#include "facebench/training/internal/arithmetic.h"

#include <ATen/autocast_mode.h>

namespace facebench {

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
