#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "facebench/metrics/accuracy.h"

namespace facebench {

// The cosines that SphereFace's evaluation.m and MagFace's eval_1v1.py use for one fold: the mean
// of all embeddings (both sides of every comparison) of the other folds is subtracted from both
// sides of all comparisons.
//
// first, second: comparisons x dim, row-major, finite; comparison i is of row i of each. A centred
// embedding of length 0 has cosine 0 with everything. Throws std::invalid_argument for sizes that
// do not fit.
std::vector<double> centred_scores(std::span<const float> first, std::span<const float> second,
                                   std::size_t dim, std::span<const std::int32_t> folds,
                                   std::int32_t fold);

// accuracy() where each fold is decided by its own scores, whatever the convention. Throws as
// accuracy() and centred_scores() do.
Accuracy centred_accuracy(std::span<const float> first, std::span<const float> second,
                          std::size_t dim, std::span<const std::uint8_t> labels,
                          std::span<const std::int32_t> folds,
                          std::string_view convention = "sphereface");

}  // namespace facebench
