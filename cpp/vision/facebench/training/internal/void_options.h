#pragma once

#include <string>
#include <vector>

#include "facebench/training/internal/training_checks.h"

namespace facebench {

// A sentence for each option that the caller says (Recipe::given) and that another option, or the
// network, makes void: milestones of a rate that is a cosine, the betas of sgd.
std::vector<std::string> void_options(const PlannedTraining& plan);

}  // namespace facebench
