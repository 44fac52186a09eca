#include "facebench/io/safetensors.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(safetensors, bytes) {
  const facebench::SafetensorsFile file(std::as_bytes(std::span(bytes)), "fuzz");
}
