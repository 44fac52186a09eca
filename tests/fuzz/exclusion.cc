// Sources: cpp/src/io/exclusion.cc
#include "facebench/datasets/exclusion.h"

#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(exclusion, bytes) {
  const MemoryFile file(bytes);
  facebench::read_exclusion(file.path());
}
