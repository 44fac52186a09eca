#pragma once

#include <string_view>

namespace facebench {

// Order in which runs of digits count as numbers: a2 before a10. Total: texts that differ are never
// equal.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace facebench
