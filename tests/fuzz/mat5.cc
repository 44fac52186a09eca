#include "facebench/io/mat5.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(mat5, bytes) {
  facebench::parse_mat5(std::as_bytes(std::span(bytes)), "fuzz");
}
