#include "facebench/core/cuda_library.h"

#include <dlfcn.h>

#include <filesystem>

namespace facebench {
namespace {

struct Library {
  std::string path, reason;
  void* handle = nullptr;
};

Library load() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&cuda_function), &here) == 0 ||
      here.dli_fname == nullptr)
    return {{}, "the folder of this library is not known"};
  const auto path = std::filesystem::path(here.dli_fname).parent_path() / "libfacebench_cuda.so";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {{}, "facebench was built without CUDA"};
  // Never closed: the CUDA runtime does not survive that.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return {path.string(), handle == nullptr ? dlerror() : "", handle};
}

}  // namespace

void* cuda_function(const char* name, std::string& reason) {
  static const Library library = load();
  reason = library.reason;
  if (library.handle == nullptr) return nullptr;
  void* const function = dlsym(library.handle, name);
  if (function == nullptr)
    reason = library.path + " is not of this version of facebench; install it again";
  return function;
}

}  // namespace facebench
