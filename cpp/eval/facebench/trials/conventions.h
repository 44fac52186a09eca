#pragma once

#include <string>

#include "facebench/core/registry.h"
#include "facebench/metrics/bootstrap.h"

// The named choices of an evaluation.
namespace facebench {

// A named way of computing published numbers, for all metrics together: which rule each metric then
// follows. A rule is empty where the project publishes none; a metric that needs one is then
// computed by the rule of "exact", and each of its numbers says so.
struct Convention {
  std::string name;
  std::string doc;
  std::string accuracy;                   // accuracy_conventions()
  std::string tar_at_far;                 // tar_at_far_conventions()
  std::string identification;             // identification_conventions()
  std::string rank_ties = "pessimistic";  // rank_ties()
};
const Table<Convention>& conventions();

// What happens to comparisons with a side that could not be enrolled.
struct FailurePolicy {
  std::string name;
  std::string doc;
  bool drop = false;  // left out of the metrics, counted; else they keep failed_score()
};
const Table<FailurePolicy>& failure_policies();

// How intervals are made.
struct IntervalMethod {
  std::string name;
  std::string doc;
  // What a bootstrap of a list draws again. Null = no intervals.
  Resampling (*of_list)(const ComparisonGraph&) = nullptr;
  // What a bootstrap of anything else draws again.
  Resampling of_people = Resampling::dyadic;
  // Runs of earlier versions give their numbers to the byte by it, so cells without an interval do
  // not say why.
  bool earlier = false;

  bool any() const { return of_list != nullptr; }
};
const Table<IntervalMethod>& interval_methods();

}  // namespace facebench
