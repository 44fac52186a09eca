#include "facebench/backends/internal/matrix_sums.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
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

Eigenvectors eigenvectors(const Matrix& symmetric) {
  const Eigen::Index n = symmetric.rows();
  Eigenvectors result{Vector(n), Matrix(n, n)};
  if (!matrix_kernels().decompose(symmetric.data(), n, result.values.data(), result.vectors.data()))
    fail("back end", "the eigenvectors of a covariance were not found",
         "Look for values without bound among the embeddings.");
  result.values.reverseInPlace();
  result.vectors.colwise().reverseInPlace();
  for (Eigen::Index k = 0; k < n; ++k) {
    Eigen::Index largest = 0;
    result.vectors.row(k).cwiseAbs().maxCoeff(&largest);
    if (result.vectors(k, largest) < 0) result.vectors.row(k) *= -1;
  }
  return result;
}

Eigen::MatrixXd cholesky(const Matrix& m, const char* what) {
  const Eigen::LLT<Eigen::MatrixXd> llt(m);
  if (llt.info() == Eigen::Success) {
    const Eigen::MatrixXd lower = llt.matrixL();
    const Vector diagonal = lower.diagonal();
    if (diagonal.minCoeff() > 1e-7 * diagonal.maxCoeff()) return lower;
  }
  fail("back end",
       fmt::format("the {} of {} dimensions is singular: some direction has no spread", what,
                   m.rows()),
       "Put pca=N of fewer dimensions before it, train on more images, or give shrinkage=lw.");
}

}  // namespace facebench
