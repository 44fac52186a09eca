#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/backends/internal/matrix_sums.h"

namespace facebench {

// What the steps need to know of people: how many images of each, and their means.
struct PeopleSums {
  std::int64_t images = 0;
  Vector mean;                 // of all images
  Matrix means;                // (people, D), less `mean`
  std::vector<double> counts;  // images of each, >= 1
  Matrix within;               // sum of (x - its person's mean)(...)'
  double fourth = 0;           // sum of |x - its person's mean|^4
};
// `person` in [0, people). Without people (empty) all images are of one.
PeopleSums people_sums(const Matrix& rows, std::span<const std::int32_t> person,
                       std::int64_t people, const Job& job);

// Of a covariance `sum / images`, the weight of the identity that Ledoit & Wolf (J. Multivariate
// Analysis 2004) find best.
double ledoit_wolf(const Matrix& sum, double fourth, std::int64_t images);
// (1 - weight) m + weight tr(m) / D I.
Matrix shrunk(const Matrix& m, double weight);

// Covariances between and within people.
struct TwoCovariances {
  Matrix between, within;
  int iterations = 0;
};
// Two normal covariances by EM, to their highest likelihood; `rank` of the one between (0: full).
TwoCovariances fit_plda(const PeopleSums& sums, std::int64_t rank, double shrinkage, int most,
                        const Job& job);
// Chen et al., ECCV 2012: a person's covariances are those of the expected values alone.
TwoCovariances fit_joint_bayesian(const PeopleSums& sums, double shrinkage, int iterations,
                                  const Job& job);

}  // namespace facebench
