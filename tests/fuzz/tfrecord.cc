// A file of TFRecords without a list.
#include "archive_entries.h"
#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(tfrecord, bytes) {
  const MemoryFile file(bytes);
  read_all_entries(*facebench::image_archives().at("tfrecord").open(file.path()));
}
