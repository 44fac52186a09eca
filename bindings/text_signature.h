#pragma once

#include <string>

namespace facebench {

// The parameters of a function as inspect.signature reads them, "(run, digits=2, *, level=...)",
// out of the line of types that the binding library puts first in its docstring; "" where that line
// is none. A default that is no plain literal is "...".
std::string text_signature(const std::string& docstring);

}  // namespace facebench
