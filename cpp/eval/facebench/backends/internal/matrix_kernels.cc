// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
// Under a name of its own for each: Eigen's functions are inline, and the linker keeps one of a
// name.
#define Eigen FACEBENCH_FOR_ISA(Eigen)
#define EIGEN_MAX_ALIGN_BYTES 16
// Of GCC 12's own avx512fintrin.h (its bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <Eigen/Core>
#include <Eigen/Eigenvalues>

#include "facebench/backends/internal/matrix_kernels.h"

namespace facebench {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Eigen cuts products as the caches of the machine are: the sums would differ between machines.
void fix_blocks() {
  static const bool fixed = [] {
    Eigen::setCpuCacheSizes(32 << 10, 1 << 20, 8 << 20);
    return true;
  }();
  (void)fixed;
}

void add_gram(const double* rows, long count, long columns, double* out) {
  fix_blocks();
  const Eigen::Map<const Rows> x(rows, count, columns);
  Eigen::Map<Rows>(out, columns, columns).selfadjointView<Eigen::Lower>().rankUpdate(x.transpose());
}

void multiply(const double* a, const double* b, long m, long n, long k, bool transposed,
              double* out) {
  fix_blocks();
  const Eigen::Map<const Rows> left(a, m, k);
  Eigen::Map<Rows> result(out, m, n);
  if (transposed)
    result.noalias() = left * Eigen::Map<const Rows>(b, n, k).transpose();
  else
    result.noalias() = left * Eigen::Map<const Rows>(b, k, n);
}

bool decompose(const double* matrix, long n, double* values, double* vectors) {
  fix_blocks();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(Eigen::Map<const Rows>(matrix, n, n));
  if (solver.info() != Eigen::Success) return false;
  Eigen::Map<Eigen::VectorXd>(values, n) = solver.eigenvalues();
  Eigen::Map<Rows>(vectors, n, n) = solver.eigenvectors().transpose();
  return true;
}

}  // namespace

extern const MatrixKernels FACEBENCH_FOR_ISA(kMatrixKernels) = {add_gram, multiply, decompose};

}  // namespace facebench
