#include "facebench/io/toml.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(toml, bytes) { facebench::parse_toml(bytes, "fuzz").json(); }
