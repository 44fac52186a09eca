#include "facebench/metrics/fixed_threshold.h"

#include <cmath>
#include <stdexcept>

#include "facebench/metrics/internal/measures.h"

namespace facebench {
namespace {

// Comparisons of one class that are decided wrongly, and all of that class.
struct Errors {
  std::int64_t wrong = 0;
  std::int64_t all = 0;
  double rate() const { return all > 0 ? ratio(wrong, all) : nan; }
};

Errors errors_at(const Comparisons& c, std::span<const Weight> sorted_weights, double threshold,
                 bool genuine) {
  Errors e;
  for (std::size_t i = 0; i < c.size(); ++i) {
    if ((c.labels()[i] != 0) != genuine) continue;
    e.all += sorted_weights[i];
    if ((c.scores()[i] >= threshold) != genuine) e.wrong += sorted_weights[i];
  }
  return e;
}

Interval fixed_interval(const Errors& e, double level) {
  Interval interval;
  interval.low = interval.high = nan;
  interval.level = level;
  if (e.all > 0) interval = wilson(e.wrong, e.all, level);
  interval.method = "wilson_fixed_threshold";
  return interval;
}

Statistic error_statistic(const char* name, std::shared_ptr<const Comparisons> c, double threshold,
                          bool genuine) {
  const std::int64_t count = genuine ? c->genuine() : c->impostor();
  require_both(genuine ? count : 1, genuine ? 1 : count, name);
  Statistic statistic{name,
                      [c, threshold, genuine](std::span<const Weight> w) {
                        return errors_at(*c, c->sorted_weights(w), threshold, genuine).rate();
                      },
                      1 / static_cast<double>(count)};
  statistic.bases = {base_of(c, genuine)};
  return statistic;
}

}  // namespace

FixedThreshold rates_at(const Comparisons& c, double threshold, double level) {
  if (std::isnan(threshold)) throw std::invalid_argument("the threshold is NaN");
  const std::vector<Weight> once = c.sorted_weights({});
  const Errors impostor = errors_at(c, once, threshold, false);
  const Errors genuine = errors_at(c, once, threshold, true);
  return {threshold,
          impostor.rate(),
          genuine.rate(),
          impostor.wrong,
          genuine.wrong,
          genuine.all,
          impostor.all,
          fixed_interval(impostor, level),
          fixed_interval(genuine, level)};
}

Statistic fmr_statistic(std::shared_ptr<const Comparisons> c, double threshold) {
  return error_statistic("fmr", std::move(c), threshold, false);
}
Statistic fnmr_statistic(std::shared_ptr<const Comparisons> c, double threshold) {
  return error_statistic("fnmr", std::move(c), threshold, true);
}

}  // namespace facebench
