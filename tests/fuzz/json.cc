#include "facebench/io/json.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(json, bytes) {
  facebench::canonical_json(facebench::parse_json(bytes, "fuzz"));
}
