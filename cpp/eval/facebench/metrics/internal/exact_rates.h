#pragma once

#include "facebench/metrics/interval.h"

namespace facebench {

// The regularised incomplete beta function I_x(a, b); a, b > 0. By its continued fraction (Press et
// al., Numerical Recipes, 2007, 6.4), to about 1e-14.
double beta_share(double x, double a, double b);
// The x at which it is p.
double beta_quantile(double p, double a, double b);

// Two-sided p-value of Student's t, and its quantile; `freedom` need not be a whole number.
double student_p_value(double t, double freedom);
double student_bound(double p, double freedom);

// The exact interval of k successes in n trials (Clopper & Pearson 1934), 0 <= k <= n, n > 0; they
// need not be whole numbers.
Interval clopper_pearson(double k, double n, double level);

// Two-sided p-value of the sign test: k of n signs (k >= n / 2, no whole numbers) are the same.
double sign_test(double k, double n);

}  // namespace facebench
