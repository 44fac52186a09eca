#include <algorithm>
#include <cmath>

#include "facebench/metrics/group_rates.h"
#include "facebench/metrics/internal/measures.h"

namespace facebench {
namespace {

using Rates = const OrderedRates&;

double lowest(Rates r) { return r.rates[r.order.front()]; }
double highest(Rates r) { return r.rates[r.order.back()]; }

double difference(Rates r) { return r.order.empty() ? nan : highest(r) - lowest(r); }

double largest_over_smallest(Rates r) {
  if (r.order.empty() || !(lowest(r) > 0) || !(highest(r) > 0)) return nan;
  return highest(r) / lowest(r);
}

double largest_over_geometric_mean(Rates r) {
  double logs = 0;
  for (const double x : r.rates) {
    if (!(x > 0)) return nan;
    logs += std::log(x);
  }
  if (r.order.empty()) return nan;
  return highest(r) / std::exp(logs / static_cast<double>(r.order.size()));
}

// Corrected for the number of groups: with n / (n - 1). The sum of all |x - y| is taken as twice
// each rate times the groups below it less those above it.
double gini(Rates r) {
  if (r.order.size() < 2) return nan;
  const auto n = static_cast<double>(r.order.size());
  double differences = 0, sum = 0, below = 0;
  for (const std::uint32_t k : r.order) {
    sum += r.rates[k];
    differences += 2 * r.rates[k] * (below - (n - 1 - below));
    ++below;
  }
  return sum > 0 ? n / (n - 1) * differences / (2 * n * sum) : 0;
}

constexpr double kHalf = 0.5;  // the weight of either kind of error

double garbe(Rates fmr, Rates fnmr) { return kHalf * gini(fmr) + (1 - kHalf) * gini(fnmr); }

double inequity_rate(Rates fmr, Rates fnmr) {
  return std::pow(largest_over_smallest(fmr), kHalf) *
         std::pow(largest_over_smallest(fnmr), 1 - kHalf);
}

double fairness_discrepancy_rate(Rates fmr, Rates fnmr) {
  return 1 - kHalf * difference(fmr) - (1 - kHalf) * difference(fnmr);
}

// A function of one kind of rates alone.
template <double (*kValue)(Rates)>
double of_fmr(Rates fmr, Rates) {
  return kValue(fmr);
}
template <double (*kValue)(Rates)>
double of_fnmr(Rates, Rates fnmr) {
  return kValue(fnmr);
}

}  // namespace

const Table<GroupMeasure>& group_measures() {
  constexpr const char* kFrte = "Grother, NIST IR 8429, 2022";
  constexpr const char* kGarbe = "Howard et al., ICPR workshops 2022; ISO/IEC 19795-10";
  static const Table<GroupMeasure> table(
      "measure of inequality",
      {{"fmr_ratio", "largest FMR over the smallest", kFrte, false, true,
        of_fmr<largest_over_smallest>},
       {"fnmr_ratio", "largest FNMR over the smallest", kFrte, false, true,
        of_fnmr<largest_over_smallest>},
       {"fmr_geometric", "largest FMR over the geometric mean", kFrte, false, true,
        of_fmr<largest_over_geometric_mean>},
       {"fnmr_geometric", "largest FNMR over the geometric mean", kFrte, false, true,
        of_fnmr<largest_over_geometric_mean>},
       {"fmr_difference", "largest FMR less the smallest", "", false, false, of_fmr<difference>},
       {"fnmr_difference", "largest FNMR less the smallest", "", false, false, of_fnmr<difference>},
       {"fmr_gini", "Gini coefficient of the FMRs, times n / (n - 1)", kGarbe, false, false,
        of_fmr<gini>},
       {"fnmr_gini", "Gini coefficient of the FNMRs, times n / (n - 1)", kGarbe, false, false,
        of_fnmr<gini>},
       {"garbe", "mean of both Gini coefficients (alpha = 0.5)", kGarbe, false, false, garbe},
       {"inequity_rate", "square root of the product of both ratios (alpha = beta = 0.5)", kFrte,
        false, true, inequity_rate},
       {"fairness_discrepancy_rate", "1 less the mean of both differences (alpha = 0.5)",
        "de Freitas Pereira & Marcel, IEEE T-BIOM 2022", true, false, fairness_discrepancy_rate}});
  return table;
}

}  // namespace facebench
