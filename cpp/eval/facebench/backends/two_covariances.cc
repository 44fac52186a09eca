// x = m + y + e: y normal with the covariance between people, once a person; e with the one within,
// once an image.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "facebench/backends/internal/people_sums.h"

namespace facebench {
namespace {

// The people with equally many images. Only X'X of their means counts, so that of more people than
// dimensions its eigenvectors, as long as the roots of their values, stand for them.
struct Alike {
  double images = 0, people = 0;
  Matrix means;
};

std::vector<Alike> alike(const PeopleSums& s, const Job& job) {
  std::map<double, std::vector<Eigen::Index>> by_count;
  for (std::size_t p = 0; p < s.counts.size(); ++p)
    by_count[s.counts[p]].push_back(static_cast<Eigen::Index>(p));
  std::vector<Alike> result;
  for (const auto& [count, people] : by_count) {
    Alike a{count, static_cast<double>(people.size()),
            Matrix(static_cast<Eigen::Index>(people.size()), s.means.cols())};
    for (std::size_t i = 0; i < people.size(); ++i)
      a.means.row(static_cast<Eigen::Index>(i)) = s.means.row(people[i]);
    if (a.means.rows() > 2 * a.means.cols()) {
      const Matrix origin = Matrix::Zero(1, a.means.cols());
      const Eigenvectors found = eigenvectors(scatter(a.means, origin, {}, job));
      a.means = found.values.cwiseMax(0).cwiseSqrt().asDiagonal() * found.vectors;
    }
    result.push_back(std::move(a));
  }
  return result;
}

void make_symmetric(Matrix& m) { m = (0.5 * (m + m.transpose())).eval(); }

// Moments: the covariance within people, and between them what it does not explain.
TwoCovariances first_guess(const PeopleSums& s, double shrinkage, const Job& job) {
  const auto n = static_cast<double>(s.images), k = static_cast<double>(s.counts.size());
  TwoCovariances c;
  c.within = shrunk(s.within / std::max(1.0, n - k), shrinkage);
  c.between = scatter(s.means, Matrix::Zero(1, s.means.cols()), {}, job) / k;
  return c;
}

}  // namespace

TwoCovariances fit_plda(const PeopleSums& s, std::int64_t rank, double shrinkage, int most,
                        const Job& job) {
  constexpr double enough = 1e-9;  // of the log likelihood, an image
  const Eigen::Index d = s.means.cols(), r = rank > 0 ? std::min<Eigen::Index>(rank, d) : d;
  const auto n = static_cast<double>(s.images), k = static_cast<double>(s.counts.size());
  const std::vector<Alike> groups = alike(s, job);
  TwoCovariances c = first_guess(s, shrinkage, job);
  Matrix total = s.within;
  for (const Alike& a : groups) total += a.images * product(a.means.transpose(), a.means);
  const Eigenvectors start = eigenvectors(c.between);
  Matrix factor = start.vectors.topRows(r).transpose() *
                  start.values.head(r).cwiseMax(0).cwiseSqrt().asDiagonal();
  double before = -std::numeric_limits<double>::infinity();
  for (c.iterations = 0; c.iterations < most; ++c.iterations) {
    job.check();
    // Turned so that the precision of y is diagonal: I + images * value.
    const Matrix lower = cholesky(c.within, "covariance within people");
    Matrix solved = solve_transposed(lower, solve_lower(lower, factor));
    Matrix inner = product(factor.transpose(), solved);
    make_symmetric(inner);
    const Eigenvectors turn = eigenvectors(inner);
    const Vector value = turn.values.cwiseMax(0);
    factor = product_transposed(factor, turn.vectors);
    solved = product_transposed(solved, turn.vectors);

    Matrix with_rows = Matrix::Zero(d, r), of_y = Matrix::Zero(r, r), mean_y = Matrix::Zero(r, r);
    double likelihood = -n * 2 * lower.diagonal().array().log().sum() -
                        solve_transposed(lower, solve_lower(lower, total)).trace();
    for (const Alike& a : groups) {
      const Vector left = (1 + a.images * value.array()).inverse();
      const Matrix z = product(a.means, solved);
      const Matrix y = a.images * z * left.asDiagonal();
      const Matrix yy = product(y.transpose(), y);
      with_rows += a.images * product(a.means.transpose(), y);
      of_y += a.images * yy;
      of_y.diagonal() += a.images * a.people * left;
      mean_y += yy;
      mean_y.diagonal() += a.people * left;
      likelihood += a.people * left.array().log().sum() + a.images * z.cwiseProduct(y).sum();
    }
    if (likelihood - before < enough * n) break;
    before = likelihood;
    const Matrix root = cholesky(of_y, "covariance of the latent variable");
    factor = solve_transposed(root, solve_lower(root, with_rows.transpose())).transpose();
    c.within = (total - product_transposed(with_rows, factor)) / n;
    make_symmetric(c.within);
    c.within = shrunk(c.within, shrinkage);
    // y brought to unit covariance again: the same likelihood, and faster steps.
    factor = product(factor, cholesky(mean_y / k, "covariance of the latent variable"));
  }
  c.between = product_transposed(factor, factor);
  return c;
}

TwoCovariances fit_joint_bayesian(const PeopleSums& s, double shrinkage, int iterations,
                                  const Job& job) {
  const auto n = static_cast<double>(s.images), k = static_cast<double>(s.counts.size());
  const Eigen::Index d = s.means.cols();
  const std::vector<Alike> groups = alike(s, job);
  TwoCovariances c = first_guess(s, shrinkage, job);
  for (c.iterations = 0; c.iterations < iterations; ++c.iterations) {
    job.check();
    // In the axes v of both covariances: v' within v = I, v' between v = value.
    const Matrix lower = cholesky(c.within, "covariance within people");
    Matrix white = solve_lower(lower, solve_lower(lower, c.between).transpose());
    make_symmetric(white);
    const Eigenvectors turn = eigenvectors(white);
    const Vector value = turn.values.cwiseMax(0);
    const Matrix axes = solve_transposed(lower, turn.vectors.transpose());
    const Matrix back = product_transposed(lower, turn.vectors);
    Matrix between = Matrix::Zero(d, d), within = Matrix::Zero(d, d);
    for (const Alike& a : groups) {
      const Matrix z = product(a.means, axes);
      const Vector left = (1 + a.images * value.array()).inverse();
      const Matrix y = z * (1 - left.array()).matrix().asDiagonal();
      const Matrix e = z * left.asDiagonal();
      between += product(y.transpose(), y) / k;
      within += a.images * product(e.transpose(), e);
    }
    c.between = product_transposed(product(back, between), back);
    c.within = (s.within + product_transposed(product(back, within), back)) / n;
    make_symmetric(c.between);
    make_symmetric(c.within);
    c.within = shrunk(c.within, shrinkage);
  }
  return c;
}

}  // namespace facebench
