#pragma once

#include <string>

namespace facebench {

// A function of libfacebench_cuda, which is loaded when it is first asked for; null where there is
// no such library (built without CUDA) or function, and then `reason` says why. Thread-safe.
void* cuda_function(const char* name, std::string& reason);

}  // namespace facebench
