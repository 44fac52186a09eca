#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

// How a backward pass hands over the gradient of a class weight.
namespace facebench {

// Changes the rows of a parameter from `first` on by their gradient (rows, D), whose memory it may
// overwrite. Called from several threads at once, for different rows.
using RowUpdate = std::function<void(std::int64_t first, const at::Tensor& gradient)>;

}  // namespace facebench
