#include "facebench/backends/internal/matrix_sums.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>

#include "facebench/backends/internal/matrix_kernels.h"
#include "facebench/core/error.h"
#include "facebench/core/internal/kernel_choice.h"

namespace facebench {

const MatrixKernels& matrix_kernels() { return FACEBENCH_KERNELS(active_isa(), kMatrixKernels); }

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix out(a.rows(), b.cols());
  matrix_kernels().multiply(a.data(), b.data(), a.rows(), b.cols(), a.cols(), false, out.data());
  return out;
}

Matrix product_transposed(const Matrix& a, const Matrix& b) {
  Matrix out(a.rows(), b.rows());
  matrix_kernels().multiply(a.data(), b.data(), a.rows(), b.rows(), a.cols(), true, out.data());
  return out;
}

Matrix scatter(const MatrixRef<double>& rows, const Matrix& centres,
               std::span<const std::int32_t> centre_of, const Job& job) {
  constexpr std::int64_t at_once = 256, most_bytes = 512 << 20;
  const std::int64_t n = rows.rows(), d = rows.cols();
  // Parts by the sizes alone, each with a sum of its own.
  const std::int64_t parts =
      std::clamp<std::int64_t>(std::min(n / 2048, most_bytes / (8 * d * d + 1)), 1, 16);
  std::vector<Matrix> sums(static_cast<std::size_t>(parts));
  parallel_for(parts, job, [&](std::int64_t part, int) {
    Matrix& sum = sums[static_cast<std::size_t>(part)] = Matrix::Zero(d, d);
    const std::int64_t end = n * (part + 1) / parts;
    Matrix centred(at_once, d);
    for (std::int64_t begin = n * part / parts; begin < end; begin += at_once) {
      const std::int64_t count = std::min(at_once, end - begin);
      for (std::int64_t i = 0; i < count; ++i)
        centred.row(i) =
            rows.row(begin + i) -
            centres.row(centre_of.empty() ? 0 : centre_of[static_cast<std::size_t>(begin + i)]);
      matrix_kernels().add_gram(centred.data(), count, d, sum.data());
    }
  });
  for (std::size_t part = 1; part < sums.size(); ++part) sums[0] += sums[part];
  sums[0].triangularView<Eigen::StrictlyUpper>() = sums[0].transpose();
  return std::move(sums[0]);
}

namespace {

// Eigen cuts its products as the caches of the machine are: the sums would differ between machines.
void fix_blocks() {
  static const bool fixed = [] {
    Eigen::setCpuCacheSizes(32 << 10, 1 << 20, 8 << 20);
    return true;
  }();
  static_cast<void>(fixed);
}

}  // namespace

Eigenvectors eigenvectors(const Matrix& symmetric) {
  fix_blocks();
  const Eigen::Index n = symmetric.rows();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
  if (solver.info() != Eigen::Success)
    fail("back end", "the eigenvectors of a covariance were not found",
         "Look for values without bound among the embeddings.");
  Eigenvectors result{solver.eigenvalues().reverse(),
                      solver.eigenvectors().transpose().colwise().reverse()};
  for (Eigen::Index k = 0; k < n; ++k) {
    Eigen::Index largest = 0;
    result.vectors.row(k).cwiseAbs().maxCoeff(&largest);
    if (result.vectors(k, largest) < 0) result.vectors.row(k) *= -1;
  }
  return result;
}

Matrix cholesky(const Matrix& m, const char* what) {
  fix_blocks();
  const Eigen::LLT<Eigen::MatrixXd> llt(m);
  if (llt.info() == Eigen::Success) {
    Matrix lower = llt.matrixL();
    const Vector diagonal = lower.diagonal();
    if (diagonal.minCoeff() > 1e-7 * diagonal.maxCoeff()) return lower;
  }
  fail("back end",
       fmt::format("the {} of {} dimensions is singular: some direction has no spread", what,
                   m.rows()),
       "Put pca=N of fewer dimensions before it, train on more images, or give shrinkage=lw.");
}

Matrix solve_lower(const Matrix& lower, Matrix b) {
  constexpr Eigen::Index at_once = 32;
  for (Eigen::Index begin = 0; begin < b.rows(); begin += at_once) {
    const Eigen::Index end = std::min(begin + at_once, b.rows());
    if (begin > 0)
      b.middleRows(begin, end - begin) -=
          product(lower.block(begin, 0, end - begin, begin), b.topRows(begin));
    for (Eigen::Index i = begin; i < end; ++i) {
      for (Eigen::Index k = begin; k < i; ++k) b.row(i) -= lower(i, k) * b.row(k);
      b.row(i) /= lower(i, i);
    }
  }
  return b;
}

Matrix solve_transposed(const Matrix& lower, Matrix b) {
  // Upside down and mirrored it is a lower triangle again.
  const Matrix turned = lower.transpose().reverse();
  return solve_lower(turned, b.colwise().reverse()).colwise().reverse();
}

}  // namespace facebench
