#include "facebench/io/text.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(csv, bytes) { const facebench::CsvTable table(std::string(bytes), "fuzz"); }
