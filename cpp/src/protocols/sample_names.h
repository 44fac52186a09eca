#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "facebench/core/registry.h"
#include "facebench/io/toml.h"
#include "facebench/protocols/trials.h"

namespace facebench {

// A name from a list as the path of a sample below the image folder. Throws Error naming `where`
// (called only then) for an empty name, an absolute path, a path that leaves the folder ("..", a
// backslash) and control characters.
std::string sample_name(std::string_view text, const std::function<std::string()>& where);

// How the name of a sample gives its person.
struct IdentityRule {
  std::string name;
  std::string doc;
  // The person, "" where the name does not have this form. Null: no name says it; people are what
  // genuine comparisons connect.
  std::string (*person)(std::string_view sample);
};
const Table<IdentityRule>& identity_rules();

// The manifest's entry of a list, with a note for each thing that was tolerated.
TrialList trial_list(std::string role, const std::filesystem::path& path, std::string_view bytes);

}  // namespace facebench
