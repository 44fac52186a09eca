#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/registry.h"
#include "facebench/metrics/bootstrap.h"

namespace facebench {

// Error rates of groups of people (sex, age, region, ...) at one threshold for all, and how unequal
// they are: the demographic differentials of ISO/IEC 19795-10.

// Comparisons whose sides belong to groups. All spans have one entry a comparison. People and
// groups are numbers from 0.
struct GroupedComparisons {
  std::span<const double> scores;
  std::span<const std::uint8_t> labels;  // 1 genuine, 0 impostor
  std::span<const std::int32_t> first_person, second_person;
  std::span<const std::int32_t> first_group, second_group;
  std::vector<std::string> groups;  // their names
  // A group whose members are not known: it has rates of its own, but the measures of inequality
  // leave it out. -1: there is none.
  std::int32_t unknown = -1;
};

// Comparisons of one group with another, or within it (first == second); first <= second.
struct GroupCell {
  std::int32_t first = 0, second = 0;
  std::int64_t comparisons = 0;
  std::int64_t errors = 0;
  double rate = 0;  // NaN without a comparison
  // Draws people (dyadic); bounds are NaN where the rate is.
  Interval interval;
  // Fewer than ten errors are expected at the rate over all groups: too few to judge the cell.
  bool few = false;
};

// One number for the inequality of the groups' rates.
struct GroupMeasureResult {
  std::string name;
  double value = 0;  // NaN where it is undefined (a ratio to a rate of 0)
  // Draws people. A largest rate less a smallest has a kink where groups change places, and cannot
  // fall below 0, so its own replicates say nothing of equality. The bounds are the outermost of
  // those that the measure has with its groups held in one order, over the orders that replicates
  // show; the bound on the side of equality is as wide as the largest of these values needs.
  Interval interval;
  // Of the permutation test: the share of random assignments of people to groups of the same sizes
  // whose value is at least as large, (1 + count) / (1 + permutations). NaN where it was not made.
  double p = 0;
};

struct GroupRates {
  double threshold = 0;  // accept score >= threshold
  std::vector<std::string> groups;
  std::vector<std::int64_t> people;              // in each group, of those who are compared
  double fmr = 0, fnmr = 0;                      // over all comparisons
  std::vector<GroupCell> fmr_cells, fnmr_cells;  // of every pair of groups that is compared
  std::vector<GroupMeasureResult> measures;      // in the order of group_measures()
};

// Rates of groups and an order of the groups, as numbers of rates.
struct OrderedRates {
  std::span<const double> rates;
  std::span<const std::uint32_t>
      order;  // from the one taken for the lowest to that for the highest
};

// A measure of inequality.
struct GroupMeasure {
  std::string name;  // "fmr_gini"
  std::string doc;
  std::string source;
  bool falls;  // smaller where groups are less equal
  // Lies from 1 on, so that its interval is made of its logarithm; else in [0, 1].
  bool ratio;
  // Of the FMR and the FNMR within each group, those groups alone that have a rate. Smooth in the
  // rates for any order; the order of the rates themselves gives the measure, no other a value that
  // is less equal. NaN where it is undefined.
  double (*value)(const OrderedRates& fmr, const OrderedRates& fnmr);
};
const Table<GroupMeasure>& group_measures();

struct GroupRatesOptions {
  std::int64_t replicates = 1000;
  double level = 0.95;
  std::int64_t seed = 0;
  std::int64_t permutations = 1000;

  static void describe(OptionsBuilder<GroupRatesOptions>& o);
};

// FMR of every pair of groups and FNMR of every group at `threshold`. The permutation test needs
// each person to be in one group; else its p is NaN. Throws std::invalid_argument for lengths that
// disagree, numbers out of range, a NaN threshold and fewer than two people.
GroupRates group_rates(const GroupedComparisons& comparisons, double threshold,
                       const GroupRatesOptions& options = {}, const Job& job = {});

}  // namespace facebench
