// Sources: cpp/eval/facebench/io/exclusion.cc
// Not of the reader: exclusion_text
#include "facebench/datasets/exclusion.h"

#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(exclusion, bytes) {
  const MemoryFile file(bytes);
  facebench::read_exclusion(file.path());
}
