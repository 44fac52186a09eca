#include "facebench/core/devices.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/devices_cuda.h"

namespace facebench {
namespace {

using Query = decltype(&facebench_cuda_devices);

struct Loaded {
  Query query = nullptr;
  std::string reason;
};

Loaded load() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&cuda_devices), &here) == 0 || here.dli_fname == nullptr)
    return {nullptr, "the folder of this library is not known"};
  const auto path = std::filesystem::path(here.dli_fname).parent_path() / "libfacebench_cuda.so";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {nullptr, "facebench was built without CUDA"};
  // Never closed: the CUDA runtime does not survive that.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {nullptr, dlerror()};
  auto* query = reinterpret_cast<Query>(dlsym(handle, "facebench_cuda_devices"));
  if (query == nullptr)
    return {nullptr, path.string() + " is not of this version of facebench; install it again"};
  return {query, ""};
}

}  // namespace

CudaDevices cuda_devices() {
  static const Loaded loaded = load();
  if (loaded.query == nullptr) return {{}, loaded.reason};
  std::array<facebench_cuda_device, 64> found{};
  std::array<char, 512> reason{};
  const int count = loaded.query(found.data(), static_cast<int>(found.size()), reason.data(),
                                 static_cast<int>(reason.size()));
  if (count <= 0) return {{}, count < 0 ? std::string(reason.data()) : "no CUDA device"};
  CudaDevices result;
  for (int i = 0; i < std::min(count, static_cast<int>(found.size())); ++i)
    result.devices.push_back(
        {i, found[i].name, found[i].memory_bytes, found[i].compute_major, found[i].compute_minor});
  return result;
}

}  // namespace facebench
