#pragma once

#include <string>

#include "facebench/reports/explain.h"

namespace facebench {

// The finding in Markdown: the cause, what differs with its evidence, and a table of the numbers.
// Numbers are printed as in tables (percent for rates).
std::string explanation_text(const Explanation& explanation);
// The same for machines, with all digits.
Json explanation_json(const Explanation& explanation);

}  // namespace facebench
