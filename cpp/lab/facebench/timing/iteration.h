#pragma once

#include <array>
#include <vector>

#include "facebench/training/step_phase.h"

namespace facebench {

// Times of a series of iterations in seconds, all of one length; `phases[p]` of a phase that did
// not occur is empty. A phase's time is what the iteration waited for it.
struct StepTimes {
  std::vector<double> iteration;
  std::array<std::vector<double>, kStepPhases> phases;
};

// What the equations say of an iteration, beside what was measured.
struct IterationModel {
  // Equation 7, nothing overlaps: t_iter = t_data + t_gpu + t_agg.
  double sequential = 0;
  // Equation 8, everything overlaps: t_iter = max(t_data, t_gpu, t_agg).
  double overlapped = 0;
  double measured = 0;
  // Where the measured iteration lies between them: 0 nothing was hidden, 1 all that could be.
  // Outside [0, 1] where the parts disturb each other or the figures are noise; NaN where the
  // largest part is the whole, so that there is nothing to hide.
  double overlap = 0;
};

// `data`, `compute` (the equations' t_gpu: forward, backward and update) and `aggregate` are the
// seconds each needs by itself, not what the iteration waited for. Throws std::invalid_argument for
// a negative or not finite time.
IterationModel iteration_model(double data, double compute, double aggregate, double measured);

// Equation 6: by how much the throughput grew when the processes (or devices) were doubled; ideally
// 1. Throws std::invalid_argument where `throughput` is not above zero.
double scaling_speedup(double throughput, double throughput_of_twice_as_many);

}  // namespace facebench
