#pragma once

#include <cstdint>
#include <string>

#include "facebench/training/recipe.h"

namespace facebench {

// Changes a recipe to another batch by the linear rule, with k = `batch` / the recipe's batch:
//   the rate is multiplied by k (and final_lr with it), momentum and decay stay;
//   what is counted in iterations (the training's length, lengths of the schedule, SphereFace's
//   annealing) is divided by k, so that the epochs stay;
//   where k > 1 the rate warms up from the recipe's own, over 5 of 90 epochs, at most 5; a longer
//   warm-up of the recipe stays.
// Returns what it did, in one sentence, which the training says too; recipe.batch_scaling has it
// for records. Throws std::invalid_argument for adam and adamw, whose steps do not go by the
// gradient's length. Source: Goyal et al., "Accurate, large minibatch SGD", 2017, sections 2.1, 2.2
// and 5.1.
std::string scale_batch(Recipe& recipe, std::int64_t batch);

}  // namespace facebench
