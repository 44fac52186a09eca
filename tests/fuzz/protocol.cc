#include "facebench/protocols/spec.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(protocol, bytes) { facebench::parse_protocol(bytes, "fuzz.toml"); }
