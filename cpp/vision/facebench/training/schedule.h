#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facebench/core/options_fwd.h"
#include "facebench/core/registry.h"

namespace facebench {

// How the learning rate changes. Lengths (`step`, `milestones`, `warmup`) are in iterations or
// epochs, as `unit` says; an epoch may end between two iterations (the last batch wraps).
struct ScheduleOptions {
  std::string policy = "cosine";
  double gamma = 0.1;
  double step = 1;
  std::vector<double> milestones;
  double power = 1;
  double final_lr = 0;
  double warmup = 0;
  double warmup_start = 0.1;
  std::string unit = "epochs";
  static void describe(OptionsBuilder<ScheduleOptions>& o);
};

// Where in a training an iteration is.
struct SchedulePosition {
  std::int64_t iteration = 0;  // 0 is the first
  std::int64_t total = 1;      // iterations in all, >= 1
  double iterations_per_epoch = 1;
};

struct SchedulePolicy {
  std::string name;
  std::string doc;
  std::string formula;
  // lr without warm-up; p is the position in the schedule's unit, t in [0, 1) the share done.
  double (*lr)(double base, double p, double t, const ScheduleOptions& options);
};

// constant, step, multistep, polynomial, exponential, cosine.
const Table<SchedulePolicy>& schedule_policies();

// The learning rate of one iteration: the policy's, times the warm-up's factor, which rises
// linearly from warmup_start at iteration 0 to 1 at the end of the warm-up.
double learning_rate(double base, const ScheduleOptions& options, const SchedulePosition& at);

}  // namespace facebench
