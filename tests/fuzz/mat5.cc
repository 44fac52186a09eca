#include "facebench/io/mat5.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(bytes) { facebench::parse_mat5(std::as_bytes(std::span(bytes)), "fuzz"); }
