#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/io/json.h"
#include "facebench/metrics/interval.h"
#include "facebench/metrics/score_set.h"
#include "facebench/metrics/searches.h"
#include "facebench/metrics/similarity_matrix.h"
#include "facebench/metrics/statistic.h"
#include "facebench/protocols/conventions.h"

namespace facebench {

// A matrix of numbers, row-major; one interval a number, or none at all.
struct MatrixValue {
  std::vector<std::string> rows, columns;  // labels
  std::vector<double> values;
  std::vector<Interval> intervals;
};

// One number of a result (or one matrix of them), with the counts behind it. `details` are further
// keys of the cell in metrics.json (see docs/evaluation.md); a number that is undefined is null
// there.
struct MetricCell {
  std::string name;                  // "accuracy", "tar@far=0.001"
  double value = 0;                  // NaN where the cell is a matrix
  std::optional<Interval> interval;  // none: not asked for, or nothing to resample
  Json details = Json::object();
  std::optional<MatrixValue> matrix;
  std::string no_interval = {};  // why there is none, where one was asked for
};

// How a metric is computed from data of one kind. `target` is a FAR, a rank or whatever the metric
// takes; unused without takes_targets.
template <class Data>
struct Rule {
  std::function<MetricCell(const Data&, double target, const Convention&)> cell;
  // What is computed again in each bootstrap replicate: one for each number of the cell, or none
  // where it has no interval.
  std::function<std::vector<Statistic>(std::shared_ptr<const Data>, double target,
                                       const Convention&)>
      statistics;
};

// A metric that a protocol's TOML can ask for. A protocol with tracks of several kinds measures on
// each what can be measured there.
struct Metric {
  std::string name;
  std::string title;  // as tables print it: "AUC", "TAR at FAR"
  std::string doc;
  // What stands before the target in a cell's name: "tar@far="; empty without targets.
  std::string prefix;
  bool rate = true;  // printed in percent; else a number with three decimals
  bool takes_targets = false;
  bool needs_folds = false;
  bool targets_are_ranks = false;  // else rates in (0, 1)
  bool lower_is_better = false;    // an error rate
  // The rule of a convention that it follows; null: it has one definition.
  std::string Convention::*convention = nullptr;
  // Of genuine and impostor scores, of searches, or of similarities between groups.
  std::variant<Rule<ScoreSet>, Rule<Searches>, Rule<SimilarityMatrix>> rule;

  // "scores", "searches" or "matrix".
  std::string applies_to() const;
};
const Table<Metric>& protocol_metrics();

// The metric that a number of that name comes from, and what else stands in the name:
// "tar@far=0.001", or the entry of a matrix, "dprime[frontal,profile]". Null for a name that is
// none of ours.
struct NamedMetric {
  const Metric* metric = nullptr;
  std::string target;       // "0.001"; empty without
  std::string row, column;  // of a matrix's entry; empty without
};
NamedMetric metric_of_cell(std::string_view cell);

}  // namespace facebench
