#include "facebench/protocols/embedded.h"

#include <algorithm>

namespace facebench {

const EmbeddedFile* find_embedded(std::string_view name) {
  const auto files = embedded_files();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  return found == files.end() ? nullptr : &*found;
}

}  // namespace facebench
