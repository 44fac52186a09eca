// A scores.h5 of a run, evaluated again.
#include "facebench/protocols/run_folder.h"
#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(scores, bytes) {
  const MemoryFile file(bytes);
  facebench::read_scores(file.path());
}
