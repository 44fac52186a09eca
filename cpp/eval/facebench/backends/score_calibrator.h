#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/statistic.h"

namespace facebench {

// A rising map from scores of any unit to natural-logarithm likelihood ratios: linear between its
// points, and beyond them as `slope` says.
struct ScoreCalibrator {
  std::string method;
  std::vector<double> score;  // ascending, at least one
  std::vector<double> llr;    // there
  double slope = 0;           // beyond the first and the last point

  double apply(double score) const;
};

struct CalibrationMethod {
  std::string name, doc, source;
  ScoreCalibrator (*fit)(const Comparisons&);
};
// "logistic": the line with the lowest Cllr. "pav": the rising steps with the lowest Cllr, linear
// between them; a step that holds one class alone gets no more evidence than its comparisons give,
// log(1 + impostors) or -log(1 + genuine).
const Table<CalibrationMethod>& calibration_methods();

// Throws std::invalid_argument for an unknown method, an empty class, and for "logistic" where a
// threshold separates the classes, so that no line is best.
ScoreCalibrator fit_calibrator(const Comparisons& comparisons, std::string_view method);

// For the bootstrap.
Statistic cllr_statistic(std::shared_ptr<const Comparisons> comparisons);
// Expected calibration error of the posterior 1 / (1 + exp(-llr - logit(prior))), in [0, 1]: in
// `bins` bins of equal width the distance between the mean posterior and the share of genuine
// comparisons, weighted by how many there are; classes are weighted so that genuine comparisons
// have the share `prior`. A few comparisons a bin make it larger than it is. Scores are likelihood
// ratios as for cllr(). Source: Naeini et al., "Obtaining well calibrated probabilities using
// Bayesian binning", AAAI 2015. Throws std::invalid_argument for a prior outside (0, 1) and bins
// below 1.
Statistic calibration_error_statistic(std::shared_ptr<const Comparisons> comparisons,
                                      double prior = 0.5, int bins = 15);

}  // namespace facebench
