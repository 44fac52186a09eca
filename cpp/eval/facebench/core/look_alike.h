#pragma once

#include <string>
#include <string_view>

namespace facebench {

// The letters and digits that a reader sees in a text, for names that must not be taken for
// another: in lower case, without accents, blanks, punctuation and what is not seen, each
// character that looks like others (Unicode's confusables, UTS #39) as those of ASCII; l, i and 1
// are one letter, as are o and 0, m and rn, w and vv. Any other character outside ASCII is a '?'.
std::string seen_letters(std::string_view text);

}  // namespace facebench
