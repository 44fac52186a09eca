#include "facebench/protocols/published.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(published, bytes) {
  facebench::published_values(facebench::parse_publication(bytes, "fuzz.toml"));
}
