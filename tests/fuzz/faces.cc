// A file of faces, as the detector `given` reads it.
#include "facebench/detection/given.h"
#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(faces, bytes) {
  const MemoryFile file(bytes);
  facebench::GivenOptions options;
  options.file = file.path().string();
  facebench::make_given(options);
}
