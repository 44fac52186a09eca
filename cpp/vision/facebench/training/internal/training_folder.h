#pragma once

#include <filesystem>

namespace facebench {

// Throws Error where a training would go into a folder in which it would write through a link,
// replace what another program wrote, or, without `resume`, join a training that is there.
void refuse_folder(const std::filesystem::path& out, bool resume);

}  // namespace facebench
