// A tar file of samples.
#include "archive_entries.h"
#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(tar, bytes) {
  const MemoryFile file(bytes);
  read_all_entries(*facebench::image_archives().at("tar").open(file.path()));
}
