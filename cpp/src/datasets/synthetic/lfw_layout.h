#pragma once

#include "facebench/datasets/synthetic/writer.h"

namespace facebench::synthetic {

// NAME/NAME_0001.jpg, ten folds of people, and the lists of Labeled Faces in the Wild.
SyntheticLayout lfw_layout();

// Writes a file inside a folder that is still being made; throws Error where that fails.
void write_new_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace facebench::synthetic
