// A .bin file inside of xz, or a tar file inside of gzip: the decoders and their bounds.
// Sources: cpp/eval/facebench/io/internal/unfold.cc
#include "facebench/io/verification_pack.h"

#include "archive_entries.h"
#include "files.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(xz, bytes) {
  static const FuzzFolder folder("xz");
  if (bytes.starts_with("\x1f\x8b"))
    facebench::image_archives().at("tar").open(folder.write("a.tar.gz", bytes), {});
  else
    const facebench::VerificationPack pack(folder.write("a.bin.xz", bytes));
}
