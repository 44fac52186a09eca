#pragma once

#include <string>
#include <vector>

#include "facebench/training/internal/training_checks.h"

namespace facebench {

// A sentence for each value of a recipe with which little or nothing can be learned: rates,
// momentum, decay and averages beside the training's length, the range of the input's numbers,
// augmentation, and margins that no arrangement of features meets.
std::vector<std::string> odd_values(const PlannedTraining& plan);

}  // namespace facebench
