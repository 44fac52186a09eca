#include "facebench/metrics/similarity_matrix.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace facebench {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

// Sums of weighted scores, taken about a shift so that the squares do not cancel.
struct Sum {
  double shift, weight = 0, first = 0, second = 0;
  void add(double w, double score) {
    const double x = score - shift;
    weight += w;
    first += w * x;
    second += w * x * x;
  }
  double mean() const { return first / weight + shift; }
  double sd() const {
    return std::sqrt(std::max(0.0, second - first * (first / weight)) / (weight - 1));
  }
};

}  // namespace

SimilarityMatrix::SimilarityMatrix(std::vector<std::string> groups, std::vector<double> scores,
                                   std::vector<std::uint8_t> left_out)
    : groups_(std::move(groups)), scores_(std::move(scores)), left_out_(std::move(left_out)) {
  const std::size_t g = groups_.size();
  if (g > 0)
    subjects_ = static_cast<std::size_t>(
        std::llround(std::sqrt(static_cast<double>(scores_.size())) / static_cast<double>(g)));
  if (g == 0 || subjects_ == 0 || scores_.size() != g * subjects_ * g * subjects_)
    throw std::invalid_argument(fmt::format(
        "{} scores are not (groups, subjects, groups, subjects) of {} groups", scores_.size(), g));
  if (left_out_.empty()) left_out_.resize(scores_.size(), 0);
  if (left_out_.size() != scores_.size())
    throw std::invalid_argument(
        fmt::format("{} scores with {} marks", scores_.size(), left_out_.size()));
  for (std::size_t k = 0; k < scores_.size(); ++k) {
    if (!std::isfinite(scores_[k]))
      throw std::invalid_argument(fmt::format("score [{}] is not a finite number", k));
    if (left_out_[k]) continue;
    const std::size_t row = k / (g * subjects_), column = k % (g * subjects_);
    ++(row % subjects_ == column % subjects_ ? genuine_ : impostor_);
  }
}

SimilarityMatrix::Sums SimilarityMatrix::same(std::size_t row, std::size_t column,
                                              std::span<const Weight> weights) const {
  const std::size_t width = groups_.size() * subjects_;
  Sum sum{scores_[row * subjects_ * width + column * subjects_]};
  for (std::size_t s = 0; s < subjects_; ++s) {
    const std::size_t k = (row * subjects_ + s) * width + column * subjects_ + s;
    if (!left_out_[k]) sum.add(weights.empty() ? 1 : weights[s], scores_[k]);
  }
  return {sum.weight, sum.mean(), sum.sd()};
}

SimilarityMatrix::Sums SimilarityMatrix::different(std::size_t row, std::size_t column,
                                                   std::span<const Weight> weights) const {
  const std::size_t width = groups_.size() * subjects_;
  Sum sum{scores_[row * subjects_ * width + column * subjects_]};
  for (std::size_t s = 0; s < subjects_; ++s) {
    const Weight weight = weights.empty() ? 1 : weights[s];
    if (weight == 0) continue;
    const std::size_t begin = (row * subjects_ + s) * width + column * subjects_;
    for (std::size_t t = 0; t < subjects_; ++t)
      if (t != s && !left_out_[begin + t])
        sum.add(static_cast<double>(weight) * (weights.empty() ? 1 : weights[t]),
                scores_[begin + t]);
  }
  return {sum.weight, sum.mean(), sum.sd()};
}

double SimilarityMatrix::mean_similarity(std::size_t row, std::size_t column,
                                         std::span<const Weight> weights) const {
  return same(row, column, weights).mean;
}

double SimilarityMatrix::impostor_similarity(std::size_t row, std::size_t column,
                                             std::span<const Weight> weights) const {
  return different(row, column, weights).mean;
}

double SimilarityMatrix::dprime(std::size_t row, std::size_t column,
                                std::span<const Weight> weights) const {
  const Sums g = same(row, column, weights), i = different(row, column, weights);
  if (!(g.weight >= 2) || !(i.weight >= 2) || (g.sd == 0 && i.sd == 0)) return undefined;
  return (g.mean - i.mean) / std::sqrt((g.sd * g.sd + i.sd * i.sd) / 2);
}

std::vector<double> matrix_values(const SimilarityMatrix& matrix, MatrixNumber number) {
  std::vector<double> values;
  for (std::size_t i = 0; i < matrix.groups().size(); ++i)
    for (std::size_t j = 0; j < matrix.groups().size(); ++j)
      values.push_back((matrix.*number)(i, j, {}));
  return values;
}

std::vector<Statistic> matrix_statistics(std::shared_ptr<const SimilarityMatrix> matrix,
                                         MatrixNumber number, const std::string& name) {
  std::vector<Statistic> result;
  for (std::size_t i = 0; i < matrix->groups().size(); ++i)
    for (std::size_t j = 0; j < matrix->groups().size(); ++j) {
      Statistic s;
      s.name = name;
      s.of_weights = [=](std::span<const Weight> w) { return ((*matrix).*number)(i, j, w); };
      s.rate = false;
      result.push_back(std::move(s));
    }
  return result;
}

}  // namespace facebench
