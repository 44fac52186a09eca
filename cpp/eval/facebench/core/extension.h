#pragma once

#include <string>
#include <string_view>

namespace facebench {

// The name of a sample or file without what follows the last dot of its last part: "a/b.jpg" is
// "a/b". A name that begins with its only dot keeps it: ".hidden".
std::string without_extension(std::string_view name);

}  // namespace facebench
