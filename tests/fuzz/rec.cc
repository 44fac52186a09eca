// A .rec file; where there are further parts, its index and the file `property` beside it.
// Sources: cpp/vision/facebench/archives/rec.cc cpp/vision/facebench/archives/internal/recordio.cc
// Not of the reader: append_part frame_record image_record is_rec
#include "archive_entries.h"
#include "files.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(rec, bytes) {
  const FuzzFolder folder("rec");
  const auto parts = parts_of(bytes);
  const auto archive = folder.write("a.rec", parts[0]);
  if (parts.size() > 1) folder.write("a.idx", parts[1]);
  if (parts.size() > 2) folder.write("property", parts[2]);
  read_all_entries(*facebench::image_archives().at("rec").open(archive, {}));
}
