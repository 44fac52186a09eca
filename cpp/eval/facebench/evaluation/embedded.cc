#include "facebench/evaluation/embedded.h"

#include <algorithm>

namespace facebench {

std::vector<std::string> embedded_names(std::string_view folder) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files())
    if (file.name.starts_with(folder)) names.emplace_back(file.name.substr(folder.size()));
  return names;
}

const EmbeddedFile* find_embedded(std::string_view name) {
  const auto files = embedded_files();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  return found == files.end() ? nullptr : &*found;
}

}  // namespace facebench
