#pragma once

#include "facebench/synthetic/writer.h"

namespace facebench::synthetic {

// NAME/NAME_0001.jpg, ten folds of people, and the lists of Labeled Faces in the Wild.
SyntheticLayout lfw_layout();
// nXXXXXX/IIII_01.jpg; pose and age template lists, 30 + 20 images of each person.
SyntheticLayout vggface2_layout();
// img/N.jpg; name lists of high, middle and low quality as MAT files, and the scores as CSV.
SyntheticLayout ijba_quality_layout();
// NAME/NAME.jpg, NAME_a.jpg, NAME_h_001.jpg (disguised), NAME_I_001.jpg (somebody else who passes
// for NAME); names and the mask of four values.
SyntheticLayout dfw_layout();
// NAME/NAME_0001.jpg; the CSV file with boxes and angles.
SyntheticLayout umdfaces_layout();

// Writes a file inside a folder that is still being made; throws Error where that fails.
void write_new_file(const std::filesystem::path& path, std::string_view bytes);

// The name of person number `identity`: Person_00001 for 0.
std::string person_name(std::int64_t identity);

}  // namespace facebench::synthetic
