// A tar or zip file of samples; where there are several parts, shards, of which one may be
// compressed. Sources: cpp/vision/facebench/archives/tar.cc
// cpp/vision/facebench/archives/internal/tar_format.cc
// cpp/vision/facebench/archives/internal/unfolded.cc Not of the reader: header_block append_padded
// tar_member tar_end is_tar_path expand_braces packed unpacked by_confined_libarchive
#include "archive_entries.h"
#include "files.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(tar, bytes) {
  const FuzzFolder folder("tar");
  const auto parts = parts_of(bytes);
  for (std::size_t k = 0; k < parts.size() && k < 10; ++k) {
    const bool folded = parts[k].starts_with("\x1f\x8b");
    folder.write("a-" + std::to_string(k) + (folded ? ".tar.gz" : ".tar"), parts[k]);
  }
  read_all_entries(*facebench::image_archives().at("tar").open(folder.path(), {}));
}
