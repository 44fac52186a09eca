#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace facebench {

// One TOML file of the project's folder protocols/, compiled into the library. `name` is its path
// below that folder without ".toml": "lfw", "recipes/demo", "published/wang-guo-2019".
struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

// All of them, sorted by name. This source is generated at build time.
std::span<const EmbeddedFile> embedded_files();

// The names that begin with `folder` ("recipes/"), sorted, without it.
std::vector<std::string> embedded_names(std::string_view folder);
// The one of that name, or null.
const EmbeddedFile* find_embedded(std::string_view name);

}  // namespace facebench
