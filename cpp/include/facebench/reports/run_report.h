#pragma once

#include <string>

#include "facebench/protocols/run_folder.h"

namespace facebench {

// report.md of one run: the protocol, the numbers with intervals and what they rest on, matrices,
// the failures, where all comes from. Made of the content alone, so equal content gives equal
// bytes.
std::string run_report(const Run& run);

}  // namespace facebench
