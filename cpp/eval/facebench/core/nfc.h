#pragma once

#include <string>
#include <string_view>

namespace facebench {

// The text in Unicode's Normalization Form C (UAX #15), in which equal names have equal bytes: an
// accented letter is one character, as Linux and Windows write it, not a letter and an accent, as
// archives of macOS hold it. Bytes that are not UTF-8 stay. Names are compared so, and written as
// they were given.
std::string nfc(std::string_view text);

// Whether nfc() may change the text; false for nearly all, at the cost of a look at each byte.
bool may_change_in_nfc(std::string_view text);

}  // namespace facebench
