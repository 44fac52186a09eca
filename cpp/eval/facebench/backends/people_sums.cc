#include "facebench/backends/internal/people_sums.h"

#include <algorithm>

namespace facebench {

PeopleSums people_sums(const Matrix& rows, std::span<const std::int32_t> person,
                       std::int64_t people, const Job& job) {
  PeopleSums s;
  s.images = rows.rows();
  s.means = Matrix::Zero(people, rows.cols());
  s.counts.assign(static_cast<std::size_t>(people), 0);
  s.mean = Vector::Zero(rows.cols());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const auto p = person.empty() ? 0 : person[static_cast<std::size_t>(i)];
    s.means.row(p) += rows.row(i);
    s.counts[static_cast<std::size_t>(p)] += 1;
  }
  for (Eigen::Index p = 0; p < people; ++p) s.mean += s.means.row(p).transpose();
  s.mean /= static_cast<double>(s.images);
  for (Eigen::Index p = 0; p < people; ++p) s.means.row(p) /= s.counts[static_cast<std::size_t>(p)];
  s.within = scatter(rows, s.means, person, job);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const auto p = person.empty() ? 0 : person[static_cast<std::size_t>(i)];
    const double square = (rows.row(i) - s.means.row(p)).squaredNorm();
    s.fourth += square * square;
  }
  s.means.rowwise() -= s.mean.transpose();
  return s;
}

double ledoit_wolf(const Matrix& sum, double fourth, std::int64_t images) {
  const auto n = static_cast<double>(images), d = static_cast<double>(sum.rows());
  const double squares = sum.squaredNorm() / (n * n), mu = sum.trace() / n / d;
  const double delta = (squares - d * mu * mu) / d;
  const double beta = (fourth / n - squares) / (d * n);
  return delta > 0 ? std::clamp(beta / delta, 0.0, 1.0) : 0;
}

Matrix shrunk(const Matrix& m, double weight) {
  if (weight == 0) return m;
  Matrix result = (1 - weight) * m;
  result.diagonal().array() += weight * m.trace() / static_cast<double>(m.rows());
  return result;
}

}  // namespace facebench
