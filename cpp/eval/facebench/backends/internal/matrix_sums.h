#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/matrix.h"

// Linear algebra with the same bits for any number of threads, on any instruction set and wherever
// an array lies: matrix_kernels.h, and what Eigen does without its vectors in blocks of a fixed
// size.
namespace facebench {

using Matrix = RowMatrix<double>;
using Vector = Eigen::VectorXd;

// a b, and a b'.
Matrix product(const Matrix& a, const Matrix& b);
Matrix product_transposed(const Matrix& a, const Matrix& b);
// The sum of (x - c)(x - c)' over the rows x; c is row centre_of[i] of `centres`, or its only row
// where centre_of is empty.
Matrix scatter(const MatrixRef<double>& rows, const Matrix& centres,
               std::span<const std::int32_t> centre_of, const Job& job);
// Eigenvalues, descending, and eigenvectors as rows; of each the largest value is positive.
struct Eigenvectors {
  Vector values;
  Matrix vectors;
};
Eigenvectors eigenvectors(const Matrix& symmetric);
// L of m = L L'. Throws Error, naming `what`, where m is singular.
Matrix cholesky(const Matrix& m, const char* what);
// x of L x = b, and of L'x = b.
Matrix solve_lower(const Matrix& lower, Matrix b);
Matrix solve_transposed(const Matrix& lower, Matrix b);

}  // namespace facebench
