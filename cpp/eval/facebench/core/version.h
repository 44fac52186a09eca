#pragma once

#include <string>

namespace facebench {

// "MAJOR.MINOR.PATCH", the project's version in CMakeLists.txt.
std::string version();
// The compiler that built the library, e.g. "gcc 12.2.0".
std::string compiler();

}  // namespace facebench
