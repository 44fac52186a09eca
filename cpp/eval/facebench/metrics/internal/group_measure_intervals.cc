#include "facebench/metrics/internal/group_measure_intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/interval.h"
#include "facebench/metrics/summary.h"

namespace facebench {
namespace {

bool any_nan(std::span<const double> rates) {
  return std::ranges::any_of(rates, [](double r) { return std::isnan(r); });
}

// The groups from the lowest rate to the highest, equal ones by number.
std::vector<std::uint32_t> order_of(std::span<const double> rates) {
  std::vector<std::uint32_t> order(rates.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t k) { return rates[k]; });
  return order;
}

std::vector<double> points_of(const Replicates& r, const RateNumbers& numbers) {
  std::vector<double> points;
  for (const std::size_t s : numbers) points.push_back(r.points[s]);
  return points;
}

std::vector<std::vector<double>> values_of(const Replicates& r, const RateNumbers& numbers,
                                           std::size_t replicates) {
  std::vector<std::vector<double>> values(replicates);
  for (std::size_t b = 0; b < replicates; ++b)
    for (const std::size_t s : numbers) values[b].push_back(r.values[s][b]);
  return values;
}

// What a measure's interval is made in: a number that grows with inequality, and back.
double scaled(const GroupMeasure& measure, double value) {
  if (measure.ratio) return std::log(value);
  return measure.falls ? 1 - value : value;
}

double unscaled(const GroupMeasure& measure, double value) {
  if (measure.ratio) return std::exp(std::max(value, 0.0));
  value = std::clamp(value, 0.0, 1.0);
  return measure.falls ? 1 - value : value;
}

}  // namespace

double measure_of(const GroupMeasure& measure, std::span<const double> fmr,
                  std::span<const double> fnmr) {
  return measure.value({fmr, order_of(fmr)}, {fnmr, order_of(fnmr)});
}

// A measure with the groups held in one order.
struct GroupMeasureIntervals::Piece {
  Replicates replicates;           // of that one statistic
  Interval interval;               // by itself
  std::vector<double> deviations;  // of each replicate, in standard deviations; NaN possible
};

GroupMeasureIntervals::GroupMeasureIntervals(const Replicates& replicates, RateNumbers fmr,
                                             RateNumbers fnmr, double level)
    : replicates_(replicates), fmr_(std::move(fmr)), fnmr_(std::move(fnmr)), level_(level) {
  fmr_points_ = points_of(replicates, fmr_);
  fnmr_points_ = points_of(replicates, fnmr_);
  const std::size_t count = replicates.values.empty() ? 0 : replicates.values.front().size();
  fmr_values_ = values_of(replicates, fmr_, count);
  fnmr_values_ = values_of(replicates, fnmr_, count);
  if (!replicates.freedom.empty())
    for (const RateNumbers& numbers : {fmr_, fnmr_})
      for (const std::size_t s : numbers)
        freedom_ = std::min(freedom_.value_or(replicates.freedom[s]), replicates.freedom[s]);
  std::set<Orders> orders = {{order_of(fmr_points_), order_of(fnmr_points_)}};
  for (std::size_t b = 0; b < count; ++b)
    if (!any_nan(fmr_values_[b]) && !any_nan(fnmr_values_[b]))
      orders.insert({order_of(fmr_values_[b]), order_of(fnmr_values_[b])});
  orders_.assign(orders.begin(), orders.end());
}

double GroupMeasureIntervals::value(const GroupMeasure& measure) const {
  return measure_of(measure, fmr_points_, fnmr_points_);
}

GroupMeasureIntervals::Piece GroupMeasureIntervals::piece(const GroupMeasure& measure,
                                                          const Orders& orders) const {
  const auto at = [&](std::span<const double> fmr, std::span<const double> fnmr) {
    return scaled(measure, measure.value({fmr, orders.fmr}, {fnmr, orders.fnmr}));
  };
  Piece result;
  Replicates& r = result.replicates;
  r.method = replicates_.method;
  r.degenerate_method = replicates_.degenerate_method;
  r.units = replicates_.units;
  r.opposed = replicates_.opposed;
  r.of_people = replicates_.of_people;
  // Of the group that says least.
  r.trials = {r.units};
  for (const RateNumbers& numbers : {fmr_, fnmr_})
    for (const std::size_t s : numbers)
      if (replicates_.trials[s] > 0) r.trials[0] = std::min(r.trials[0], replicates_.trials[s]);
  r.points = {at(fmr_points_, fnmr_points_)};
  if (freedom_) r.freedom = {*freedom_};
  r.values.emplace_back();
  for (std::size_t b = 0; b < fmr_values_.size(); ++b)
    r.values[0].push_back(at(fmr_values_[b], fnmr_values_[b]));
  Statistic number;
  number.rate = false;
  result.interval = interval_of(r, 0, number, level_);
  std::vector<double> defined;
  for (const double v : r.values[0])
    if (!std::isnan(v)) defined.push_back(v);
  const double sd = defined.size() > 1 ? moments(defined).sd : 0;
  for (const double v : r.values[0])
    result.deviations.push_back(sd > 0 ? (v - r.points[0]) / sd : 0);
  return result;
}

Interval GroupMeasureIntervals::interval(const GroupMeasure& measure) const {
  Interval result;
  result.level = level_;
  result.low = result.high = nan;
  result.method = replicates_.method + "_of_orders";
  const double point = scaled(measure, value(measure));
  if (std::isnan(point)) return result;
  std::vector<Piece> pieces;
  for (const Orders& orders : orders_) pieces.push_back(piece(measure, orders));
  const auto never_moves = [&](const Piece& p) {
    return std::ranges::all_of(p.replicates.values[0], [&](double v) { return v == point; });
  };
  if (point == 0 && std::ranges::all_of(pieces, never_moves)) {
    // No error in any group: the bootstrap knows nothing, a rate's interval says Wilson's.
    Statistic rate;
    rate.rate = true;
    result = interval_of(pieces.front().replicates, 0, rate, level_);
  } else {
    std::vector<double> largest(fmr_values_.size(), 0);
    for (const Piece& p : pieces) {
      if (std::isnan(p.interval.low)) return result;
      for (std::size_t b = 0; b < largest.size(); ++b)
        if (p.deviations[b] > largest[b]) largest[b] = p.deviations[b];
    }
    std::ranges::sort(largest);
    const auto rank = static_cast<std::size_t>(level_ * static_cast<double>(largest.size()));
    const double reached = largest[std::min(rank, largest.size() - 1)];
    const double wider = std::max(1.0, reached / normal_quantile(half_level(level_)));
    result.low = -std::numeric_limits<double>::infinity();
    result.high = point;
    for (const Piece& p : pieces) {
      const double at = p.replicates.points[0];
      result.low = std::max(result.low, at - wider * (at - p.interval.low));
      result.high = std::max(result.high, p.interval.high);
      result.replicates = p.interval.replicates;
      result.undefined = std::max(result.undefined, p.interval.undefined);
    }
  }
  result.low = rounded_bound(unscaled(measure, result.low));
  result.high = rounded_bound(unscaled(measure, result.high));
  if (measure.falls) std::swap(result.low, result.high);
  return result;
}

}  // namespace facebench
