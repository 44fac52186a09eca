// Sources: cpp/lab/facebench/claims/published.cc
// Not of the reader: publication_names load_publication at table named
#include "facebench/claims/published.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(published, bytes) {
  facebench::published_values(facebench::parse_publication(bytes, "fuzz.toml"));
}
