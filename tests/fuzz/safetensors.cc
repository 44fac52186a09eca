#include "facebench/io/safetensors.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(safetensors, bytes) {
  const facebench::SafetensorsFile file(std::as_bytes(std::span(bytes)), "fuzz");
  for (const auto& [name, tensor] : file.tensors())
    if (file.at(name).dtype == facebench::DType::f32) file.floats(name);
}
