#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "facebench/metrics/accuracy.h"

namespace facebench {

// accuracy() of cosines of embeddings from which the mean has been subtracted, as SphereFace's
// evaluation.m and MagFace's eval_1v1.py do: for each fold the mean of all embeddings (both sides
// of every comparison) of the other folds, subtracted from both sides of all comparisons before the
// cosine. So each fold has scores of its own, and the rule needs embeddings, not scores.
//
// first, second: comparisons x dim, row-major, finite; comparison i is of row i of each. A centred
// embedding of length 0 has cosine 0 with everything. Throws std::invalid_argument for sizes that
// do not fit, and as accuracy() does.
Accuracy centred_accuracy(std::span<const float> first, std::span<const float> second,
                          std::size_t dim, std::span<const std::uint8_t> labels,
                          std::span<const std::int32_t> folds,
                          std::string_view convention = "sphereface");

}  // namespace facebench
