#pragma once

#include <string_view>

namespace facebench {

// Refuses text that toml++ must not see: it has no bound on the depth of dotted keys (its tables
// end each other by recursion), and before 3.4 its behaviour is undefined for some text that is no
// TOML. Throws Error naming the line: more than kTomlBytes, a key of more than kTomlKeyParts parts,
// brackets in more than kTomlNesting levels, a character outside ASCII that stands neither in a
// string nor in a comment, a header that does not begin with a name. All other errors are the
// parser's own.
void check_toml_text(std::string_view text, std::string_view file);

inline constexpr std::size_t kTomlBytes = 8 << 20;
inline constexpr int kTomlKeyParts = 32, kTomlNesting = 32;

}  // namespace facebench
