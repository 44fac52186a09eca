// An LMDB data file.
#include "archive_entries.h"
#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(lmdb, bytes) {
  const MemoryFile file(bytes);
  read_all_entries(*facebench::image_archives().at("lmdb").open(file.path()));
}
