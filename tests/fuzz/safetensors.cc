// Tensors, written again: what is written reads as the same bytes.
// Sources: cpp/eval/facebench/io/safetensors.cc
#include "facebench/io/safetensors.h"

#include <algorithm>
#include <cstdlib>

#include "ask.h"
#include "files.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(safetensors, bytes) {
  using facebench::SafetensorsFile;
  const SafetensorsFile file(std::as_bytes(std::span(bytes)), "fuzz");
  for (const auto& entry : file.tensors()) ask([&] { file.floats(entry.first); });
  ask([&] { file.at("absent"); });
  static const FuzzFolder folder("safetensors");
  const auto path = folder.path() / "again";
  facebench::write_safetensors(path, file.tensors(), file.metadata());
  const SafetensorsFile again(path);
  if (again.metadata() != file.metadata()) std::abort();
  if (again.tensors().size() != file.tensors().size()) std::abort();
  for (const auto& [name, tensor] : file.tensors()) {
    const auto& same = again.at(name);
    if (same.dtype != tensor.dtype || same.shape != tensor.shape) std::abort();
    if (!std::ranges::equal(same.bytes, tensor.bytes)) std::abort();
  }
}
