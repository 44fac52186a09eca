// A file of TFRecords without a list; where there are several parts, a list, then its shards.
// Sources: cpp/vision/facebench/archives/tfrecord.cc
// cpp/vision/facebench/archives/internal/protobuf.cc Not of the reader: is_tfrecord list_of_folder
#include "archive_entries.h"
#include "files.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(tfrecord, bytes) {
  const FuzzFolder folder("tfrecord");
  const auto parts = parts_of(bytes);
  auto archive = folder.path() / "a.tfrecord";
  if (parts.size() == 1) {
    folder.write("a.tfrecord", bytes);
  } else {
    archive = folder.write("a.index", parts[0]);
    for (std::size_t k = 1; k < parts.size() && k < 10; ++k)
      folder.write("a-0000" + std::to_string(k - 1) + ".tfrecord", parts[k]);
  }
  read_all_entries(*facebench::image_archives().at("tfrecord").open(archive, {}));
}
