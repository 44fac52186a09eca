// The index of a .rec file, beside a small one.
// Sources: cpp/vision/facebench/archives/internal/rec_index.cc
#include <string>

#include "archive_entries.h"
#include "files.h"
#include "fuzz.h"

namespace {

// Two records of an image of four bytes, then one of none.
std::string small_rec() {
  const std::string head("\x0a\x23\xd7\xce", 4), zeros(24, '\0');
  std::string bytes;
  for (const char* image : {"abcd", "efgh", ""}) {
    const std::string data = zeros + image;
    bytes += head + std::string{static_cast<char>(data.size()), 0, 0, 0} + data;
  }
  return bytes;
}

}  // namespace

FACEBENCH_FUZZ_TARGET(rec_index, bytes) {
  static const FuzzFolder folder("rec");
  static const auto archive = folder.write("a.rec", small_rec());
  folder.write("a.idx", bytes);
  read_all_entries(*facebench::image_archives().at("rec").open(archive, {}));
}
