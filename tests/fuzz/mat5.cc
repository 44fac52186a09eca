// Sources: cpp/eval/facebench/io/mat5.cc
// Not of the reader: read_mat5
#include "facebench/io/mat5.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(mat5, bytes) {
  for (const auto& [name, array] : facebench::parse_mat5(std::as_bytes(std::span(bytes)), "fuzz"))
    if (array.kind == facebench::MatArray::Kind::cell) facebench::mat_text_rows(array, name);
}
