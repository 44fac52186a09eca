#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facebench/training/training_set.h"

namespace facebench {

// A sentence that counts and names images which are there under several people, byte for byte;
// empty without such. `hashes`: of the file of each image; empty where the source knows none, so
// that pixels are compared.
std::string images_of_several_people(const TrainingSet& set, const TrainingClasses& classes,
                                     const std::vector<std::int64_t>& hashes);

}  // namespace facebench
