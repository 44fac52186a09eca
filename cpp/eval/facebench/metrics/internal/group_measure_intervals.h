#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/group_rates.h"

namespace facebench {

// The measure of these rates of groups.
double measure_of(const GroupMeasure& measure, std::span<const double> fmr,
                  std::span<const double> fnmr);

// Numbers of statistics among replicates.
using RateNumbers = std::vector<std::size_t>;

// Measures of inequality and their intervals, out of replicates of the groups' rates.
//
// A measure is the largest of smooth functions of the rates, one for each order of the groups. An
// interval of one such function is sound, one of the largest is not: where two groups are equal its
// replicates all lie on one side of the truth. So each order that replicates show has its interval,
// and the bounds are the outermost. The lower one (of a measure that grows with inequality) is
// wider by what the largest of several functions reaches by chance. Of two groups with a difference
// d this is the interval of d, folded at 0. Sources: Hirano & Porter, "Impossibility results for
// nondifferentiable functionals", Econometrica 2012 (why not the measure's own replicates); Romano
// & Wolf, "Exact and approximate stepdown methods for multiple hypothesis testing", JASA 2005 (the
// largest studentized deviation, out of the same replicates).
class GroupMeasureIntervals {
 public:
  // fmr, fnmr: which statistics of the replicates are the groups' rates. The replicates must live
  // as long.
  GroupMeasureIntervals(const Replicates& replicates, RateNumbers fmr, RateNumbers fnmr,
                        double level);

  // NaN where it is undefined.
  double value(const GroupMeasure& measure) const;
  // Bounds are NaN where the value is, or where half of the replicates are undefined.
  Interval interval(const GroupMeasure& measure) const;

 private:
  struct Orders {
    std::vector<std::uint32_t> fmr, fnmr;
    auto operator<=>(const Orders&) const = default;
  };
  struct Piece;
  Piece piece(const GroupMeasure& measure, const Orders& orders) const;

  const Replicates& replicates_;
  RateNumbers fmr_, fnmr_;
  double level_;
  std::vector<double> fmr_points_, fnmr_points_;
  std::vector<std::vector<double>> fmr_values_, fnmr_values_;  // of each replicate
  std::optional<double> freedom_;  // Student's degrees of freedom, the fewest of the rates
  std::vector<Orders> orders_;     // that replicates show
};

}  // namespace facebench
