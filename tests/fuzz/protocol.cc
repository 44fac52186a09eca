// Sources: cpp/eval/facebench/protocols/spec.cc cpp/eval/facebench/protocols/conventions.cc
// cpp/eval/facebench/protocols/reader.cc Not of the reader: of track_counts protocol_names
// load_protocol differences_from_official
//   missing missing_files
#include "facebench/protocols/spec.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(protocol, bytes) { facebench::parse_protocol(bytes, "fuzz.toml"); }
