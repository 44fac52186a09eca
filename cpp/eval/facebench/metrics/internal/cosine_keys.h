#pragma once

#include <string>

// Scores that are cosines.
namespace facebench {

class Comparisons;

// Throws std::invalid_argument where a score is not a cosine, allowing for the rounding of fp32.
void check_cosines(const Comparisons& comparisons, const char* kind, const std::string& convention);
// The squared distance of unit vectors with that cosine, negated: a key that rises with the score.
double negative_squared_distance(double cosine);

}  // namespace facebench
