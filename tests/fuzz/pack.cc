#include "facebench/datasets/pack.h"

#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(pack, bytes) {
  const MemoryFile file(bytes);
  const facebench::Pack pack(file.path());
  for (std::int64_t i = 0; i < pack.size(); ++i) {
    pack.image(i);
    pack.label(i);
    pack.box(i);
  }
}
