#pragma once

#include <cstdint>
#include <span>

#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/roc.h"

// What the public functions and the bootstrap share: weights already in the sorted order, NaN
// instead of an exception where a value is undefined.
namespace facebench {

__extension__ typedef __int128 Wide;  // products of two counts stay exact

// Throws std::invalid_argument as the constructor of Comparisons says.
void check_comparisons(std::span<const double> scores, std::span<const std::uint8_t> labels);
// Throws std::invalid_argument where a score is no cosine, allowing for the rounding of fp32.
void check_cosines(const Comparisons& comparisons, const char* kind, const std::string& convention);
// The squared distance of unit vectors with that cosine, negated: a key that rises with the score.
double negative_squared_distance(double cosine);

RocCurve measure_roc(const Comparisons& comparisons, std::span<const Weight> sorted_weights);
double measure_auc(const RocCurve& curve);
double measure_eer(const RocCurve& curve);
double measure_eer_convex_hull(const RocCurve& curve);

}  // namespace facebench
