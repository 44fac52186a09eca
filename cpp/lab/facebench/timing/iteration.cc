#include "facebench/timing/iteration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace facebench {

IterationModel iteration_model(double data, double compute, double aggregate, double measured) {
  for (const double t : {data, compute, aggregate, measured})
    if (!(t >= 0) || !std::isfinite(t))
      throw std::invalid_argument("iteration_model: every time is a number of seconds, >= 0");
  IterationModel m;
  m.sequential = data + compute + aggregate;
  m.overlapped = std::max({data, compute, aggregate});
  m.measured = measured;
  const double hidden_at_most = m.sequential - m.overlapped;
  m.overlap = hidden_at_most > 0 ? (m.sequential - measured) / hidden_at_most
                                 : std::numeric_limits<double>::quiet_NaN();
  return m;
}

double scaling_speedup(double throughput, double throughput_of_twice_as_many) {
  if (!(throughput > 0) || !(throughput_of_twice_as_many >= 0))
    throw std::invalid_argument("scaling_speedup: a throughput is above zero");
  return (throughput_of_twice_as_many - throughput) / throughput;
}

}  // namespace facebench
