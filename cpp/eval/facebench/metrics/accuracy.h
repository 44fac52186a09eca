#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/metrics/comparisons.h"

namespace facebench {

// Verification accuracy by folds (LFW's "view 2"): for each fold the threshold is chosen on the
// other folds and applied to it.
struct Accuracy {
  double value = 0;  // mean of the folds' accuracies, in [0, 1]
  std::vector<std::int32_t> folds;
  std::vector<double> fold_accuracy;
  std::vector<double> fold_threshold;  // in the score's unit
  double sd = 0;                       // of the folds' accuracies, n - 1
  double standard_error = 0;           // sd / sqrt(folds)
  double spread = 0;                   // what the convention prints after +-; see its `spread`
  std::int64_t wrong = 0;              // comparisons decided wrongly, all folds together
  std::int64_t comparisons = 0;
  std::string convention;
};

enum class Criterion { accuracy, youden };  // what the threshold maximises; youden = TPR - FPR
// Which of several maximisers: the first or the last in the order of the grid, the mean of all, or
// the middle of the widest gap between scores.
enum class TieRule { first, last, mean, widest_gap };
enum class Spread { sd, population_sd, standard_error, none };

// One published way to compute it, as data. Thresholds apply to a key, a non-decreasing function of
// the score (for a distance: minus the distance).
struct AccuracyConvention {
  std::string name;
  std::string doc;
  std::string source;
  bool cosine_only = false;  // needs scores in [-1, 1]
  // The script subtracts the mean embedding of the training folds: its scores are
  // Comparisons::centred(), where there are any.
  bool centred = false;
  double (*key)(double score) = nullptr;     // null = the score itself
  double (*to_score)(double key) = nullptr;  // its inverse
  std::vector<double> grid;  // thresholds as keys, in the order in which they are tried, monotone
  // Instead of a grid: that many equal steps from the lowest to the highest training score, without
  // the lowest. 0 with an empty grid = between all neighbouring training scores.
  int span_steps = 0;
  Criterion criterion = Criterion::accuracy;
  TieRule tie_rule = TieRule::first;
  bool accept_equal = false;          // key >= threshold instead of key > threshold
  bool equal_is_wrong = false;        // an impostor at the threshold is wrong too
  bool train_equal_is_wrong = false;  // the same while choosing the threshold
  Spread spread = Spread::sd;
};

// "exact" (the default of this project): thresholds between all neighbouring training scores,
// maximal accuracy; of several maximisers the middle of the widest gap (the threshold that
// tolerates the largest change of a score; of equal gaps the higher one, with fewer false accepts);
// accept score >= threshold. The others reproduce published scripts.
const Table<AccuracyConvention>& accuracy_conventions();

// Throws std::invalid_argument for an unknown convention (did you mean), fewer than two folds,
// scores that the convention cannot take, and where the value is undefined (weights that leave a
// fold empty; for youden also training folds without one of the classes).
Accuracy accuracy(const Comparisons& comparisons, std::string_view convention = "exact",
                  std::span<const Weight> weights = {});
// The same for a convention given as a value.
Accuracy accuracy(const Comparisons& comparisons, const AccuracyConvention& convention,
                  std::span<const Weight> weights = {});
// The same, and the value is NaN where it is undefined.
Accuracy measure_accuracy(const Comparisons& comparisons, const AccuracyConvention& convention,
                          std::span<const Weight> weights);

// numpy.arange(start, stop, step) to the last bit: the grids of published scripts are made with it.
std::vector<double> arange(double start, double stop, double step);

}  // namespace facebench
