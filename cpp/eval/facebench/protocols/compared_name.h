#pragma once

#include <string>
#include <string_view>

namespace facebench {

// A name of an image or a template as names of lists, tables and embeddings are compared: in NFC,
// with / for Windows' \, without "./" in front, without characters that nobody sees (byte order
// marks, zero-width spaces and joiners, soft hyphens) and blanks around it; a no-break space is a
// space.
std::string compared_name(std::string_view name);

}  // namespace facebench
