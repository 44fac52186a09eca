#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/backends/backend.h"
#include "facebench/backends/internal/apply.h"
#include "facebench/backends/internal/matrix_kernels.h"

namespace facebench {
namespace {

constexpr std::int64_t kAtOnce = 512;

// body(begin, count) for blocks of rows, whose size threads do not change.
template <class Body>
void by_blocks(std::int64_t rows, const Job& job, const Body& body) {
  parallel_for((rows + kAtOnce - 1) / kAtOnce, job, [&](std::int64_t block, int) {
    body(block * kAtOnce, std::min(kAtOnce, rows - block * kAtOnce));
  });
}

}  // namespace

void check_rows(const MatrixRef<double>& rows, std::int64_t dim, const char* what) {
  if (rows.cols() == 0 || (dim >= 0 && rows.cols() != dim))
    throw std::invalid_argument(
        dim < 0 ? fmt::format("{} has rows of no numbers", what)
                : fmt::format("{} has rows of {} numbers, the back end was fitted to {}", what,
                              rows.cols(), dim));
  for (Eigen::Index i = 0; i < rows.rows(); ++i)
    if (!rows.row(i).allFinite())
      throw std::invalid_argument(
          fmt::format("{}: row {} holds NaN or an infinity; leave it out", what, i));
}

RowMatrix<double> apply_step(const FittedStep& step, const MatrixRef<double>& rows,
                             const Job& job) {
  const bool turned = step.basis.size() > 0;
  RowMatrix<double> out(rows.rows(), turned ? step.basis.rows() : rows.cols());
  by_blocks(rows.rows(), job, [&](std::int64_t begin, std::int64_t count) {
    const RowMatrix<double> centred =
        rows.middleRows(begin, count).rowwise() - step.mean.transpose();
    if (turned)
      matrix_kernels().multiply(centred.data(), step.basis.data(), count, out.cols(), rows.cols(),
                                true, out.data() + begin * out.cols());
    else
      out.middleRows(begin, count) = centred;
    if (!step.unit) return;
    for (std::int64_t i = begin; i < begin + count; ++i)
      if (const double norm = out.row(i).norm(); norm > 0) out.row(i) /= norm;
  });
  return out;
}

std::int64_t Backend::dim() const { return steps.front().mean.size(); }

RowMatrix<double> Backend::transform(const MatrixRef<double>& rows, const Job& job) const {
  check_rows(rows, dim(), "the array");
  RowMatrix<double> result = rows;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) result = apply_step(steps[i], result, job);
  return result;
}

BackendSide Backend::side(const MatrixRef<double>& rows, const Job& job) const {
  BackendSide side{apply_step(steps.back(), transform(rows, job), job), {}};
  side.own.resize(side.rows.rows());
  for (Eigen::Index i = 0; i < side.rows.rows(); ++i)
    side.own[i] = 0.5 * (constant + side.rows.row(i).array().square().matrix().dot(square));
  return side;
}

double Backend::score(const BackendSide& a, std::int64_t row_of_a, const BackendSide& b,
                      std::int64_t row_of_b) const {
  const auto columns = static_cast<std::int64_t>(cross.size());
  const double *x = a.rows.data() + row_of_a * columns, *y = b.rows.data() + row_of_b * columns;
  double sums[4] = {};  // so that additions need not wait for each other
  for (std::int64_t k = 0; k < columns; ++k) sums[k % 4] += x[k] * y[k] * cross[k];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + (a.own[row_of_a] + b.own[row_of_b]);
}

std::vector<double> Backend::score(const MatrixRef<double>& a, const MatrixRef<double>& b,
                                   const Job& job) const {
  if (a.rows() != b.rows())
    throw std::invalid_argument(
        fmt::format("{} rows on one side, {} on the other: a score is of "
                    "two rows with the same number",
                    a.rows(), b.rows()));
  const BackendSide first = side(a, job), second = side(b, job);
  std::vector<double> scores(static_cast<std::size_t>(a.rows()));
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    scores[static_cast<std::size_t>(i)] = score(first, i, second, i);
  return scores;
}

RowMatrix<double> Backend::score_all(const BackendSide& a, std::int64_t begin, std::int64_t count,
                                     const BackendSide& b) const {
  const RowMatrix<double> left = a.rows.middleRows(begin, count) * cross.asDiagonal();
  RowMatrix<double> out(count, b.rows.rows());
  matrix_kernels().multiply(left.data(), b.rows.data(), count, b.rows.rows(), left.cols(), true,
                            out.data());
  for (std::int64_t i = 0; i < count; ++i)
    out.row(i).array() += a.own[begin + i] + b.own.transpose().array();
  return out;
}

RowMatrix<double> Backend::score_all(const MatrixRef<double>& a, const MatrixRef<double>& b,
                                     const Job& job) const {
  const BackendSide first = side(a, job), second = side(b, job);
  RowMatrix<double> out(a.rows(), b.rows());
  by_blocks(a.rows(), job, [&](std::int64_t begin, std::int64_t count) {
    out.middleRows(begin, count) = score_all(first, begin, count, second);
  });
  return out;
}

}  // namespace facebench
