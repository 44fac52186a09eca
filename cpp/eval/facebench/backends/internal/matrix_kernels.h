#pragma once

// The products that take the time. Included by a file that is compiled for several instruction
// sets, so it includes nothing. All matrices are of doubles, row by row.

namespace facebench {

// Each number of a product is a chain of its own, in vectors of neighbours: of 128 terms at a time,
// in their order, every product and every sum rounded (nothing is fused), the parts added up in
// their order. So all instruction sets give the same bits, wherever the arrays lie.
struct MatrixKernels {
  // The lower triangle of out (columns, columns) += rows' rows.
  void (*add_gram)(const double* rows, long count, long columns, double* out);
  // out (m, n) = a (m, k) b; b is (k, n), or (n, k) where `transposed`.
  void (*multiply)(const double* a, const double* b, long m, long n, long k, bool transposed,
                   double* out);
};

const MatrixKernels& matrix_kernels();

extern const MatrixKernels kMatrixKernelsPlain;
extern const MatrixKernels kMatrixKernelsAvx2;
extern const MatrixKernels kMatrixKernelsAvx512;

}  // namespace facebench
