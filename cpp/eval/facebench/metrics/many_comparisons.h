#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/metrics/score_set.h"
#include "facebench/metrics/score_tail.h"

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

// The identities of the rows and columns of a ScoreTail. Impostor comparisons that the tail does
// not hold follow from the identities: every row with every column, or each unordered pair once.
struct TailSides {
  std::span<const std::int32_t> row_identity, column_identity;  // any numbers
  bool triangle = false;                                        // rows are the columns
  // As in DenseScores.
  std::span<const std::uint8_t> row_left_out, column_left_out;
};

// Comparisons of a list, as they lie in memory. A view: scores must stay there as long as what is
// made of them.
struct ListedScores {
  std::span<const double> scores;
  std::span<const std::uint8_t> labels;                           // 1 genuine, 0 impostor
  std::span<const std::int32_t> first_identity, second_identity;  // any numbers; genuine: the same
};

// What Comparisons is for some thousands, for tens of millions: genuine scores (few) are sorted,
// impostor scores (many) only put between them, each with its two identities in four bytes. That is
// all that AUC, EER and TAR@FAR need, and a bootstrap replicate is one pass over it, taken for
// sixteen replicates at once. Weights are of the identities: a genuine comparison counts w_i times,
// an impostor comparison w_i * w_j times.
class ManyComparisons final : public ScoreSet {
 public:
  // Throws std::invalid_argument for sizes that do not fit, a mask value above 2, a triangle that
  // is not square, and, naming row and column, for a score that is not finite; where a class is
  // empty, too. The same content for any number of threads.
  explicit ManyComparisons(const DenseScores& scores, const Job& job = {});
  explicit ManyComparisons(const ListedScores& scores, const Job& job = {});
  // Of more comparisons than can be stored (metrics/all_pairs.h), each score rounded to float: the
  // same numbers as from all the scores, as far as the tail reaches.
  ManyComparisons(const ScoreTail& tail, const TailSides& sides);

  std::int64_t genuine() const override {
    return static_cast<std::int64_t>(genuine_identity_.size());
  }
  std::int64_t impostor() const override { return impostor_; }
  // Impostor comparisons whose score is known.
  std::int64_t known_impostors() const { return static_cast<std::int64_t>(segment_begin_.back()); }
  // Whether all scores are known, not only the highest.
  bool complete() const { return known_levels_ == level_.size(); }
  bool reaches(double far) const override;
  std::vector<std::int64_t> taking_part(bool genuine) const override;
  // Those that take part in any comparison; they are numbered in ascending order of the caller's.
  std::int64_t identities() const override { return identities_; }
  // The caller's numbers of them, ascending.
  const std::vector<std::int32_t>& people() const { return people_; }

  // Two points for each distinct genuine score (before it and at it), so that impostor scores
  // between two genuine ones are one step.
  RocCurve roc(std::span<const Weight> weights = {}) const override;
  RocCurve roc_near(double far, std::span<const Weight> weights = {}) const override;
  RocCurve roc_around(double far, std::span<const Weight> weights = {}) const override;

  // The curves of up to kLanes replicates at once; `weights` is (identities, kLanes). They may end
  // where every FPR is above `far_needed`.
  static constexpr std::size_t kLanes = 16;
  std::vector<RocCurve> curves(std::span<const Weight> weights, std::size_t lanes,
                               double far_needed) const;

  // Of such a curve, which has two points for each genuine score, what some statistics need.
  struct PartsNeeded {
    bool area = false, crossing = false;  // of FPR and FNR
    std::vector<double> fars;             // ascending
  };
  struct CurveParts {
    // First and last point, and those before and behind the crossing and each FAR: what is asked of
    // the curve there has the same answer.
    RocCurve points;
    double auc = 0;  // where it was needed; NaN where a class is empty
  };
  // Only where identities alone tell how many impostor comparisons are drawn (has_parts()).
  bool has_parts() const { return by_identity_; }
  std::vector<CurveParts> curve_parts(std::span<const Weight> weights, std::size_t lanes,
                                      const PartsNeeded& needed) const;

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
  // Fills segments and pairs out of all scores. `source` visits them: see many_comparisons.cc.
  template <class Source>
  void place(const Source& source, const Job& job);
  template <class Id, class Source>
  Pairs<Id> place_impostors(const Source& source, const Job& job);
  template <class Id>
  Pairs<Id> place_impostors(const ScoreTail& tail, const TailSides& sides);
  using Counts = std::array<std::int64_t, kLanes>;
  std::vector<RocCurve> empty_curves(std::span<const Weight> weights, std::size_t lanes) const;
  // Calls put(threshold, genuine accepted, impostors accepted) for each point of the curves.
  template <class Put>
  void walk(std::span<const Weight> weights, double far_needed, std::span<const RocCurve> totals,
            const Put& put) const;
  template <class Real, class Id, class Put>
  void walk(const Pairs<Id>& pairs, std::span<const Weight> weights, double far_needed,
            std::span<const RocCurve> totals, const Put& put) const;
  std::int64_t segment_weight(std::size_t segment, std::span<const Weight> weights) const;
  std::int64_t impostor_weight(std::size_t k, std::span<const Weight> weights) const;
  // Of lane `lane` of weights of (identities, stride). Follows from the identities alone.
  std::int64_t impostor_total(std::span<const Weight> weights, std::size_t stride,
                              std::size_t lane) const;
  std::int64_t genuine_weight(std::size_t level, std::span<const Weight> weights) const;
  double impostor_score(std::size_t k) const {
    return listed_.empty() ? impostor_score_[k] : listed_[impostor_at_[k]];
  }
  // Genuine and impostor comparisons that are drawn.
  std::pair<std::int64_t, std::int64_t> totals(std::span<const Weight> weights) const;
  // Of the impostor scores of a segment that are drawn the highest and the lowest, with how often.
  std::vector<std::pair<double, std::int64_t>> ends_of(std::size_t segment,
                                                       std::span<const Weight> weights) const;
  // Impostor scores of a segment that are drawn at all, descending, with how often.
  std::vector<std::pair<double, std::int64_t>> drawn_scores(std::size_t segment,
                                                            std::span<const Weight> weights) const;
  void check_weights(std::span<const Weight> weights) const;

  std::int64_t identities_ = 0;
  std::vector<std::int32_t> people_;
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
  std::vector<std::int64_t> genuine_of_;  // per identity
  // Impostor scores above `known_above_` are known, and so all segments of the first levels. Of
  // the segment above the next level those that are known stand for it.
  std::size_t known_levels_ = 0;
  double known_above_ = -std::numeric_limits<double>::infinity();

  // Segment 2 l: impostor scores above level l and below level l - 1; segment 2 l + 1: equal to
  // level l. One more at the end, below all levels.
  std::vector<std::size_t> segment_begin_;
  // The score of each impostor comparison: itself, or its place in the caller's list.
  std::vector<float> impostor_score_;
  std::span<const double> listed_;
  std::vector<std::uint32_t> impostor_at_;
  std::variant<Pairs<std::uint16_t>, Pairs<std::uint32_t>> pairs_;

  // Where few people have very many comparisons: how many of each two people (identities,
  // identities) and genuine ones of each person lie above every kBlock-th level. What is accepted
  // there under any weights then takes no walk over the scores. Empty for others.
  static constexpr std::size_t kBlock = 4096;
  std::vector<std::int64_t> block_impostors_, block_genuine_;
  void count_blocks();
  // The last block whose false accepts fit, and those with the genuine comparisons accepted.
  struct BlockStart {
    std::size_t level = 0;
    std::int64_t false_accepts = 0, genuine_accepted = 0;
  };
  template <class Fits>
  BlockStart last_block(std::span<const Weight> weights, const Fits& fits) const;
};

}  // namespace facebench
