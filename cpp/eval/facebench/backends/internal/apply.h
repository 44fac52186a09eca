#pragma once

#include "facebench/backends/backend.h"

namespace facebench {

// Throws std::invalid_argument for rows that hold NaN or an infinity, for none, and for another
// number of columns (dim >= 0).
void check_rows(const MatrixRef<double>& rows, std::int64_t dim, const char* what);
RowMatrix<double> apply_step(const FittedStep& step, const MatrixRef<double>& rows, const Job& job);

}  // namespace facebench
