#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace facebench {

// Calls `work` on the one thread that gives cards their work, waits, and returns or throws what it
// does. torch keeps cuDNN's plans by thread, and in bfloat16 cuDNN compiles them: sixteen threads
// that took turns made each sixteen times. `work` does not call this.
at::Tensor on_launch_thread(std::function<at::Tensor()> work);

}  // namespace facebench
