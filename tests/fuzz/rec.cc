// A .rec file without an index.
#include "archive_entries.h"
#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(rec, bytes) {
  const MemoryFile file(bytes);
  read_all_entries(*facebench::image_archives().at("rec").open(file.path()));
}
