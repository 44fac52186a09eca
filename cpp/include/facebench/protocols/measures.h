#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/io/json.h"
#include "facebench/metrics/interval.h"

namespace facebench {

// One number of a result, with what it rests on. `details` are further keys of the cell in
// metrics.json (see docs/protocols/lfw.md); a number that is undefined is null there.
struct MetricCell {
  std::string name;  // "accuracy", "tar@far=0.001"
  double value = 0;
  std::optional<Interval> interval;  // none: not asked for, or nothing to resample
  Json details = Json::object();
};

// A named way of computing published numbers, for all metrics together: which convention each
// metric then follows.
struct Convention {
  std::string name;
  std::string doc;
  std::string accuracy;    // accuracy_conventions()
  std::string tar_at_far;  // tar_at_far_conventions()
};
const Table<Convention>& conventions();

// What happens to comparisons with a side that could not be enrolled.
struct FailurePolicy {
  std::string name;
  std::string doc;
  bool drop = false;  // left out of the metrics, counted; else they keep failed_score()
};
const Table<FailurePolicy>& failure_policies();

// How intervals are made: "components", "vertex" (see metrics/interval.h) or "none".
struct IntervalMethod {
  std::string name;
  std::string doc;
  std::function<std::vector<Interval>(const ComparisonGraph&, std::span<const Statistic>,
                                      const BootstrapOptions&, const Job&)>
      make;
};
const Table<IntervalMethod>& interval_methods();

// A metric that a protocol's TOML can ask for. `target` is a FAR, unused without takes_targets.
struct Metric {
  std::string name;
  std::string doc;
  bool takes_targets = false;
  bool needs_folds = false;
  std::function<MetricCell(const Comparisons&, double target, const Convention&)> measure;
  std::function<Statistic(std::shared_ptr<const Comparisons>, double target, const Convention&)>
      statistic;
};
const Table<Metric>& protocol_metrics();

}  // namespace facebench
