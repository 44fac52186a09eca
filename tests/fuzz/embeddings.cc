// Embeddings, written again: what is written reads as the same values.
// Sources: cpp/eval/facebench/io/embeddings.cc
#include "facebench/io/embeddings.h"

#include <cstdlib>
#include <cstring>

#include "memory_file.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(embeddings, bytes) {
  const MemoryFile file(bytes);
  const facebench::EmbeddingSet set = facebench::read_embeddings(file.path());
  static const FuzzFolder folder("embeddings");
  const auto path = folder.path() / "again.h5";
  facebench::write_embeddings(path, set);
  const facebench::EmbeddingSet again = facebench::read_embeddings(path);
  if (again.names != set.names || again.status != set.status || again.dim != set.dim ||
      again.manifest != set.manifest || again.values.size() != set.values.size() ||
      std::memcmp(again.values.data(), set.values.data(), sizeof(float) * set.values.size()) != 0)
    std::abort();
}
