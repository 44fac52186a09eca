#pragma once

// The products and decompositions that take the time. Included by a file that is compiled for
// several instruction sets, so it includes nothing. All matrices are of doubles, row by row. The
// order of the sums depends on the sizes and the instruction set alone.

namespace facebench {

struct MatrixKernels {
  // The lower triangle of out (columns, columns) += rows' rows.
  void (*add_gram)(const double* rows, long count, long columns, double* out);
  // out (m, n) = a (m, k) b; b is (k, n), or (n, k) where `transposed`.
  void (*multiply)(const double* a, const double* b, long m, long n, long k, bool transposed,
                   double* out);
  // Of a symmetric matrix (n, n), whose lower triangle is read: eigenvalues, ascending, and
  // eigenvectors as rows. False where the iteration does not converge.
  bool (*decompose)(const double* matrix, long n, double* values, double* vectors);
};

const MatrixKernels& matrix_kernels();

extern const MatrixKernels kMatrixKernelsPlain;
extern const MatrixKernels kMatrixKernelsAvx2;
extern const MatrixKernels kMatrixKernelsAvx512;

}  // namespace facebench
