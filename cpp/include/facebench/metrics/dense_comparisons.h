#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/roc.h"
#include "facebench/metrics/score_tail.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {

// Scores of every row with every column, as they lie in memory. A view: nothing is copied.
struct DenseScores {
  std::span<const float> scores;                                // (rows, columns), row-major
  std::span<const std::int32_t> row_identity, column_identity;  // any numbers
  // Rows are the columns: only those after the diagonal count.
  bool triangle = false;
  // (rows, columns): 0 not compared, 1 genuine, 2 impostor; empty = by identity.
  std::span<const std::uint8_t> mask;
  // 1 = the whole row or column is left out; empty = none is.
  std::span<const std::uint8_t> row_left_out, column_left_out;
};

// Whom the rows and columns of a ScoreTail are. Impostor comparisons that the tail does not hold
// follow from the identities: every row with every column, or each unordered pair once.
struct TailSides {
  std::span<const std::int32_t> row_identity, column_identity;  // any numbers
  bool triangle = false;                                        // rows are the columns
  // As in DenseScores.
  std::span<const std::uint8_t> row_left_out, column_left_out;
};

// What Comparisons is for lists, for tens of millions of dense comparisons: genuine scores (few)
// are sorted, impostor scores (many) only put between them, each with its two identities in four
// bytes. That is all that AUC, EER and TAR@FAR need, and a bootstrap replicate is one pass over it,
// taken for sixteen replicates at once.
class DenseComparisons {
 public:
  // Throws std::invalid_argument for sizes that do not fit, a mask value above 2, a triangle that
  // is not square, and, naming row and column, for a score that is not finite. The same content for
  // any number of threads.
  explicit DenseComparisons(const DenseScores& scores, const Job& job = {});

  // Of more comparisons than can be stored (metrics/all_pairs.h), each score rounded to float: the
  // same numbers as from all the scores, as far as the tail reaches. Throws std::invalid_argument
  // for sizes and indices that do not fit, and where a class is empty.
  DenseComparisons(const ScoreTail& tail, const TailSides& sides);

  std::int64_t genuine() const { return static_cast<std::int64_t>(genuine_identity_.size()); }
  std::int64_t impostor() const { return impostor_; }
  // Impostor comparisons whose score is known.
  std::int64_t known_impostors() const { return static_cast<std::int64_t>(impostor_score_.size()); }
  // Whether all scores are known, and not the highest alone.
  bool complete() const { return known_levels_ == level_.size(); }
  // Those that take part in any comparison; they are numbered in ascending order of the caller's.
  std::int64_t identities() const { return identities_; }

  // The curve reduced to what genuine comparisons see: two points for each distinct genuine score
  // (before it and at it), so that impostor scores between two genuine ones are one step. AUC, EER
  // and the TAR at any FAR are those of the whole curve. `weights` say how often each identity
  // counts (w_i for a genuine, w_i * w_j for an impostor comparison); empty = once. Ends at a
  // threshold above -infinity where the lower scores are not known.
  RocCurve curve(std::span<const Weight> weights = {}) const;

  // The curves of up to kLanes replicates at once; `weights` is (identities, kLanes). They may end
  // where every FPR is above `far_needed`.
  static constexpr std::size_t kLanes = 16;
  std::vector<RocCurve> curves(std::span<const Weight> weights, std::size_t lanes,
                               double far_needed) const;

  // tar_at_far(), convention "exact", of the whole curve: threshold and false accepts too. Throws
  // std::invalid_argument for a FAR outside [0, 1], and where the known scores do not reach it.
  TarAtFar tar_at_far(double far) const;
  // The same comparisons as a list, for rules that need every score. Throws std::invalid_argument
  // where not all scores are known.
  Comparisons listed() const;
  // Its threshold where each identity counts `weights` times, so that the impostor comparisons
  // count `impostor` times in all; NaN for 0, and where the known scores do not reach that far.
  // Empty weights = once.
  double threshold(double far, std::int64_t impostor, std::span<const Weight> weights) const;

 private:
  template <class Id>
  struct Pair {
    Id first, second;
  };
  template <class Id>
  using Pairs = std::vector<Pair<Id>>;

  // `row_used` and `column_used`: which take part in any comparison.
  void number_identities(std::span<const std::int32_t> row_identity,
                         std::span<const std::int32_t> column_identity,
                         const std::vector<std::uint8_t>& row_used,
                         const std::vector<std::uint8_t>& column_used);
  using Genuine = std::vector<std::pair<double, std::int32_t>>;  // score, identity
  void set_levels(Genuine all);
  template <class Id>
  Pairs<Id> place_impostors(const DenseScores& s, const Job& job);
  template <class Id>
  Pairs<Id> place_impostors(const ScoreTail& tail, const TailSides& sides);
  template <class Real, class Id>
  void walk(const Pairs<Id>& pairs, std::span<const Weight> weights, double far_needed,
            std::span<RocCurve> out) const;
  // Where the lowest threshold lies whose FAR does not exceed the target.
  struct Cut {
    double threshold = 0;  // NaN: below the known scores
    std::int64_t false_accepts = 0, genuine_accepted = 0;
  };
  Cut cut(double far, std::int64_t impostor, std::span<const Weight> weights) const;
  std::int64_t segment_weight(std::size_t segment, std::span<const Weight> weights) const;
  std::int64_t impostor_weight(std::size_t k, std::span<const Weight> weights) const;
  std::int64_t impostor_total(std::span<const Weight> weights, std::size_t lane) const;

  std::int64_t identities_ = 0;
  std::int64_t impostor_ = 0;
  std::vector<std::int32_t> row_number_, column_number_;  // identity of each, -1 = takes no part
  std::vector<std::int64_t> rows_of_, columns_of_;        // per identity
  bool triangle_ = false;
  bool by_identity_ = true;  // the number of impostor comparisons follows from the two above

  // Distinct genuine scores, descending; genuine comparisons of level l are
  // [level_begin_[l], level_begin_[l + 1]).
  std::vector<double> level_;
  std::vector<std::size_t> level_begin_;
  std::vector<std::int32_t> genuine_identity_;
  // Impostor scores above `known_above_` are known, and so all segments of the first levels. Of
  // the segment above the next level those that are known stand for it.
  std::size_t known_levels_ = 0;
  double known_above_ = -std::numeric_limits<double>::infinity();

  // Segment 2 l: impostor scores above level l and below level l - 1; segment 2 l + 1: equal to
  // level l. One more at the end, below all levels.
  std::vector<std::size_t> segment_begin_;
  std::vector<float> impostor_score_;
  std::variant<Pairs<std::uint16_t>, Pairs<std::uint32_t>> pairs_;
};

// Both throw std::invalid_argument where not all scores are known.
double auc(const DenseComparisons& comparisons);
double eer(const DenseComparisons& comparisons);

}  // namespace facebench
