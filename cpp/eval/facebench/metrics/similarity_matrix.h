#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/comparisons.h"

namespace facebench {

// Mean similarity between groups (poses, ages) of the same subjects: each subject has two templates
// of each group, and cell (i, j) is the mean over the subjects of the similarity of template 1 of
// group i with template 2 of group j. It is not symmetric, and its diagonal compares two different
// templates. Source: Cao et al., "VGGFace2", FG 2018, section V.B and tables 3 to 5.
//
// A system that gives everybody the same embedding scores 1 everywhere, so each cell has a twin
// over different subjects, and a d' from both.
class SimilarityMatrix {
 public:
  // `scores` is (groups, subjects, groups, subjects), row-major: template 1 of a group and subject
  // with template 2 of a group and subject. `left_out` has the same shape, 1 = not counted; empty =
  // none. Throws std::invalid_argument where sizes disagree and for a score that is not finite.
  SimilarityMatrix(std::vector<std::string> groups, std::vector<double> scores,
                   std::vector<std::uint8_t> left_out = {});

  const std::vector<std::string>& groups() const { return groups_; }
  std::size_t subjects() const { return subjects_; }
  // Comparisons that are counted in all cells together, of the same and of different subjects.
  std::int64_t genuine() const { return genuine_; }
  std::int64_t impostor() const { return impostor_; }

  // What each number is a function of: `row` and `column` are groups; `weights` say how often each
  // subject counts (w_s for the same, w_s * w_t for different ones), empty = once. NaN where there
  // is nothing to count; dprime also where both standard deviations are 0.
  double mean_similarity(std::size_t row, std::size_t column,
                         std::span<const Weight> weights = {}) const;
  double impostor_similarity(std::size_t row, std::size_t column,
                             std::span<const Weight> weights = {}) const;
  double dprime(std::size_t row, std::size_t column, std::span<const Weight> weights = {}) const;

 private:
  struct Sums {
    double weight = 0, mean = 0, sd = 0;
  };
  Sums same(std::size_t row, std::size_t column, std::span<const Weight> weights) const;
  Sums different(std::size_t row, std::size_t column, std::span<const Weight> weights) const;

  std::vector<std::string> groups_;
  std::size_t subjects_ = 0;
  std::vector<double> scores_;
  std::vector<std::uint8_t> left_out_;
  std::int64_t genuine_ = 0, impostor_ = 0;
};

// One of the functions above.
using MatrixNumber = double (SimilarityMatrix::*)(std::size_t, std::size_t,
                                                  std::span<const Weight>) const;
// All cells of it, row-major.
std::vector<double> matrix_values(const SimilarityMatrix& matrix, MatrixNumber number);
// One statistic a cell; its weights are of the subjects.
std::vector<Statistic> matrix_statistics(std::shared_ptr<const SimilarityMatrix> matrix,
                                         MatrixNumber number, const std::string& name);

}  // namespace facebench
