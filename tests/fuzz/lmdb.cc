// An LMDB data file; where there are further parts, lists of keys and labels beside it.
// Sources: cpp/vision/facebench/archives/lmdb.cc
// cpp/vision/facebench/archives/internal/lmdb_file.cc
//   cpp/vision/facebench/archives/internal/message_pack.cc
// Not of the reader: is_lmdb
#include "archive_entries.h"
#include "files.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(lmdb, bytes) {
  const FuzzFolder folder("lmdb");
  const auto parts = parts_of(bytes);
  const auto archive = folder.write("data.mdb", parts[0]);
  for (std::size_t k = 1; k < parts.size() && k < 4; ++k)
    folder.write(std::to_string(k) + "_kv.txt", parts[k]);
  read_all_entries(*facebench::image_archives().at("lmdb").open(archive, {}));
}
