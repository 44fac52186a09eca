#include "facebench/io/embeddings.h"

#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(embeddings, bytes) {
  const MemoryFile file(bytes);
  facebench::read_embeddings(file.path());
}
