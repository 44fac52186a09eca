#pragma once

#include <string>
#include <string_view>

namespace facebench {

// A name of a person or a file in the form in which lists, tables and folders are compared: nfc(),
// with '/' for Windows' separator and without "./" in front, with the usual blank for any other and
// none at the ends, and without what has no width (U+200B, U+2060, soft hyphens, byte order marks,
// marks of direction; the joiners U+200C and U+200D are letters' own, and stay). Bytes that are not
// UTF-8 stay. Names are written as they were given.
std::string compared_name(std::string_view name);

}  // namespace facebench
