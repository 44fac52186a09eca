#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "facebench/core/registry.h"
#include "facebench/trials/blemishes.h"

namespace facebench {

// A name from a list as the path of a sample below the image folder. Blanks and byte order marks
// around it are counted and passed over. Throws Error naming `where` (called only when needed) for
// an empty name, an absolute path, a path that leaves the folder ("..", a backslash) and control
// characters.
std::string sample_name(std::string_view text, Blemishes& blemishes,
                        const std::function<ListPlace()>& where);

// How the name of a sample gives its person.
struct IdentityRule {
  std::string name;
  std::string doc;
  // The person, "" where the name does not have this form. Null: no name says it; people are what
  // genuine comparisons connect.
  std::string (*person)(std::string_view sample);
};
const Table<IdentityRule>& identity_rules();

}  // namespace facebench
