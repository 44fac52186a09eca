// A .bin file inside of xz: the decoder and its bound.
#include "facebench/io/verification_pack.h"
#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(xz, bytes) {
  const MemoryFile file(bytes);
  const facebench::VerificationPack pack(file.path());
}
