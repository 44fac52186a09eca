#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/statistic.h"

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

// Comparisons with the scores of embeddings as they are, and for each fold those of
// centred_scores(): the mean differs, so each fold has scores of its own.
class CentredComparisons {
 public:
  // One of `of_fold` for each fold of `plain`, of the same comparisons in the same order. Throws
  // std::invalid_argument where they do not fit.
  CentredComparisons(Comparisons plain, std::vector<Comparisons> of_fold);

  const Comparisons& plain() const { return plain_; }
  const Comparisons& of_fold(int fold) const { return of_fold_[static_cast<std::size_t>(fold)]; }

 private:
  Comparisons plain_;
  std::vector<Comparisons> of_fold_;
};

// accuracy() where each fold is decided by its own scores. Throws as accuracy() does.
Accuracy centred_accuracy(const CentredComparisons& comparisons,
                          std::string_view convention = "sphereface",
                          std::span<const Weight> weights = {});
Accuracy centred_accuracy(std::span<const float> first, std::span<const float> second,
                          std::size_t dim, std::span<const std::uint8_t> labels,
                          std::span<const std::int32_t> folds,
                          std::string_view convention = "sphereface");

// For the bootstrap. The means stay those of all comparisons.
Statistic centred_accuracy_statistic(std::shared_ptr<const CentredComparisons> comparisons,
                                     std::string_view convention = "sphereface");

}  // namespace facebench
