// The pickle of a .bin file.
// Sources: cpp/eval/facebench/io/verification_pack.cc
// cpp/eval/facebench/io/internal/pickle_machine.cc
//   cpp/eval/facebench/io/internal/pickle_opcodes.cc
// Not of the reader: is_verification_pack verification_pack_bytes
#include <cstdlib>

#include "facebench/io/verification_pack.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(bin, bytes) {
  const facebench::VerificationPack pack(std::as_bytes(std::span(bytes)), "fuzz");
  if (pack.images().size() != 2 * pack.same().size()) std::abort();
  std::size_t sum = 0;
  for (const std::string_view image : pack.images())
    for (const char c : image) sum += static_cast<unsigned char>(c);
  if (sum > 255 * bytes.size() * pack.images().size()) std::abort();  // every byte was there
}
