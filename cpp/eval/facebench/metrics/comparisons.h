#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "facebench/metrics/score_set.h"

namespace facebench {

// Comparisons (two samples each), checked and sorted once, so that every metric, and each of a
// bootstrap's thousand replicates, is one pass over them.
//
// A score is a similarity (higher = more alike), finite, in any unit. A label is 1 for a genuine
// comparison (same person) and 0 for an impostor. Folds are optional: any numbers, one a
// comparison. Weights are of the comparisons, in the caller's order.
class Comparisons final : public ScoreSet {
 public:
  // Throws std::invalid_argument, naming the first index at fault, for a NaN or infinite score and
  // for a label other than 0 or 1; also for lengths that differ, an empty list and one of 2^32
  // comparisons or more.
  Comparisons(std::span<const double> scores, std::span<const std::uint8_t> labels,
              std::span<const std::int32_t> folds = {});

  std::size_t size() const { return scores_.size(); }
  std::int64_t genuine() const override { return genuine_; }
  std::int64_t impostor() const override { return static_cast<std::int64_t>(size()) - genuine_; }
  // Every distinct score is a point.
  RocCurve roc(std::span<const Weight> weights = {}) const override;
  TarAtFar tar_over_folds(const TarAtFarConvention& rule, double far,
                          std::span<const Weight> weights = {}) const override;
  std::vector<std::int64_t> taking_part(bool genuine) const override;

  // All in descending order of score; equal scores in the order given.
  std::span<const double> scores() const { return scores_; }
  std::span<const std::uint8_t> labels() const { return labels_; }
  // The position of each in the caller's list.
  std::span<const std::uint32_t> index() const { return index_; }
  // The fold of each as a number in [0, fold_count()); empty without folds.
  std::span<const std::int32_t> folds() const { return folds_; }

  // 0 without folds.
  int fold_count() const { return static_cast<int>(fold_names_.size()); }
  // The caller's fold numbers, ascending.
  std::span<const std::int32_t> fold_names() const { return fold_names_; }
  // Positions (in the sorted order) of a fold's comparisons, ascending.
  std::span<const std::uint32_t> fold_members(int fold) const {
    return std::span(members_).subspan(fold_begin_[fold],
                                       fold_begin_[fold + 1] - fold_begin_[fold]);
  }

  // The same comparisons with other scores for each fold, those of centred_scores(), which accuracy
  // conventions that are `centred` take. Throws std::invalid_argument where they do not fit.
  void set_centred(std::vector<Comparisons> of_fold);
  bool has_centred() const { return !centred_.empty(); }
  const Comparisons& centred(int fold) const { return centred_[static_cast<std::size_t>(fold)]; }

  // The caller's weights brought into the sorted order; all 1 for empty weights. Throws
  // std::invalid_argument where the length differs.
  std::vector<Weight> sorted_weights(std::span<const Weight> weights) const;

 private:
  std::vector<double> scores_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::uint32_t> index_;
  std::vector<std::int32_t> folds_;
  std::vector<std::int32_t> fold_names_;
  std::vector<std::uint32_t> members_;
  std::vector<std::size_t> fold_begin_;
  std::vector<Comparisons> centred_;
  std::int64_t genuine_ = 0;
};

// The middle of two scores low < high, as a threshold that separates them: low < result <= high,
// also where the two are neighbouring doubles.
double threshold_between(double low, double high);
// The smallest threshold (accept score >= threshold) that accepts nothing up to `highest`.
double threshold_above(double highest);

}  // namespace facebench
