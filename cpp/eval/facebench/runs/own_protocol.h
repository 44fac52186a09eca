#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "facebench/runs/run_folder.h"

namespace facebench {

// A protocol that is not one of facebench's, by the SHA-256 of its text.
struct OwnProtocol {
  std::string said;    // a sentence: what it is not
  bool alike = false;  // a reader takes its id or title for one of ours ("LFW  view II")
};

// Whether the protocol that a run names is one of facebench's, as it is embedded: then empty. Names
// are compared as they are seen: letters that look alike, numerals ("II", "two"), the long names of
// data sets, and words that say nothing ("official") make no other name.
std::optional<OwnProtocol> own_protocol(const Run& run);

}  // namespace facebench
