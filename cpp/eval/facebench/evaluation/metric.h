#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/evaluation/number.h"
#include "facebench/metrics/statistic.h"
#include "facebench/trials/conventions.h"
#include "facebench/trials/measurable.h"

namespace facebench {

// A number, and what is computed again in each bootstrap replicate: one statistic for each of its
// values, or none where it has no interval.
struct Measured {
  Number number;
  std::vector<Statistic> statistics;
};

// A metric that a protocol's TOML can ask for. A protocol with tracks of several kinds measures on
// each what can be measured there.
struct Metric {
  std::string name;
  std::string title;  // as tables print it: "AUC", "TAR at FAR"
  std::string doc;
  // What stands before the target in a number's name: "tar@far="; empty without targets.
  std::string prefix;
  bool of_scores = false;  // in the unit of the scores: a threshold, a mean similarity
  bool rate = true;        // printed in percent; else a number with three decimals
  bool takes_targets = false;
  bool needs_folds = false;
  bool targets_are_ranks = false;  // else rates in (0, 1)
  bool lower_is_better = false;    // an error rate
  // The rule of a convention that it follows; null: it has one definition.
  std::string Convention::*convention = nullptr;
  // Whether that rule needs the scores of centred embeddings, too; null: never.
  bool (*needs_centred)(const Convention&) = nullptr;
  MetricData data = MetricData::scores;
  // Computes it from data of that kind, its name excepted. `target` is a FAR, a rank or whatever
  // the metric takes. Statistics are only needed where the data can be drawn again.
  Measured (*rule)(const Metric&, const Measurable&, double target, const Convention&) = nullptr;

  // The number of that name. Throws std::invalid_argument for what the rule refuses, and where the
  // convention has none.
  Measured measure(const Measurable& data, double target, const Convention& convention) const;
  // The targets that a protocol gives, or one that is not looked at.
  std::vector<double> targets(std::vector<double> requested) const;
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
NamedMetric metric_of_number(std::string_view cell);

}  // namespace facebench
