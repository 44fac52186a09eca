// Sources: cpp/vision/facebench/datasets/pack.cc
#include "facebench/datasets/pack.h"

#include "ask.h"
#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(pack, bytes) {
  const MemoryFile file(bytes);
  const facebench::Pack pack(file.path());
  ask_anything([&] { pack.image(pack.size()); });
  for (std::int64_t i = 0; i < pack.size(); ++i) {
    pack.image(i);
    pack.label(i);
    pack.box(i);
    pack.landmarks(i);
    pack.name(i);
    pack.status(i);
  }
}
