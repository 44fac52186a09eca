// Sources: cpp/eval/facebench/evaluation/spec.cc cpp/eval/facebench/trials/conventions.cc
// cpp/eval/facebench/lists/reader.cc Not of the reader: of track_counts protocol_names
// load_protocol differences_from_official
//   missing missing_files
#include "facebench/evaluation/spec.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(protocol, bytes) { facebench::parse_protocol(bytes, "fuzz.toml"); }
