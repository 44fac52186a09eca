#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "facebench/core/registry.h"
#include "facebench/io/toml.h"
#include "facebench/protocols/trials.h"

namespace facebench {

// A name out of a list as the path of a sample below the image folder. Throws Error naming `where`
// (asked only then) for an empty name, an absolute path, a way out of the folder ("..", a
// backslash) and control characters.
std::string sample_name(std::string_view text, const std::function<std::string()>& where);

// How a sample's name tells who is on it.
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
