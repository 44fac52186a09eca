#include "facebench/training/schedule.h"

#include <cmath>
#include <numbers>

#include "facebench/core/options.h"

namespace facebench {

void ScheduleOptions::describe(OptionsBuilder<ScheduleOptions>& o) {
  o.name("ScheduleOptions", "How the learning rate runs over a training.");
  o.choice("policy", &ScheduleOptions::policy, "rule of the learning rate",
           schedule_policies().names());
  o.field("gamma", &ScheduleOptions::gamma, "factor of step, multistep, exponential and inverse", 0,
          1);
  o.field("step", &ScheduleOptions::step, "length of a step", 1e-9, 1e12);
  o.field("milestones", &ScheduleOptions::milestones, "ends of the steps of multistep", 0, 1e12);
  o.field("power", &ScheduleOptions::power, "exponent of polynomial and inverse", 0, 100);
  o.field("final_lr", &ScheduleOptions::final_lr, "where polynomial and cosine end", 0, 1e3);
  o.field("warmup", &ScheduleOptions::warmup, "length of the warm-up", 0, 1e12);
  o.field("warmup_start", &ScheduleOptions::warmup_start, "factor at the start of warm-up", 0, 1);
  o.choice("unit", &ScheduleOptions::unit, "unit of lengths", {"epochs", "iterations"});
}

const Table<SchedulePolicy>& schedule_policies() {
  using Options = const ScheduleOptions&;
  static const Table<SchedulePolicy> table(
      "learning-rate policy",
      {
          {"constant", "the same throughout", "lr",
           [](double lr, double, double, Options) { return lr; }},
          {"step", "falls by a factor at equal distances", "lr gamma^floor(p / step)",
           [](double lr, double p, double, Options o) {
             return lr * std::pow(o.gamma, std::floor(p / o.step));
           }},
          {"multistep", "falls by a factor at each milestone",
           "lr gamma^(number of milestones <= p)",
           [](double lr, double p, double, Options o) {
             int passed = 0;
             for (const double milestone : o.milestones) passed += p >= milestone;
             return lr * std::pow(o.gamma, passed);
           }},
          {"polynomial", "falls to final_lr as a power of what is left",
           "final + (lr - final) (1 - t)^power",
           [](double lr, double, double t, Options o) {
             return o.final_lr + (lr - o.final_lr) * std::pow(1 - t, o.power);
           }},
          {"exponential", "falls by a factor in each unit, smoothly", "lr gamma^p",
           [](double lr, double p, double, Options o) { return lr * std::pow(o.gamma, p); }},
          {"inverse", "falls as a power, Caffe's inv", "lr (1 + gamma p)^-power",
           [](double lr, double p, double, Options o) {
             return lr * std::pow(1 + o.gamma * p, -o.power);
           }},
          {"cosine", "half a cosine down to final_lr", "final + (lr - final) (1 + cos(pi t)) / 2",
           [](double lr, double, double t, Options o) {
             return o.final_lr + (lr - o.final_lr) * (1 + std::cos(std::numbers::pi * t)) / 2;
           }},
      });
  return table;
}

double learning_rate(double base, const ScheduleOptions& options, const SchedulePosition& at) {
  const auto iteration = static_cast<double>(at.iteration);
  const double unit = options.unit == "epochs" ? at.iterations_per_epoch : 1;
  const double p = iteration / unit;
  const double t = iteration / static_cast<double>(at.total);
  const double lr = schedule_policies().at(options.policy).lr(base, p, t, options);
  if (p >= options.warmup) return lr;
  return lr * (options.warmup_start + (1 - options.warmup_start) * p / options.warmup);
}

}  // namespace facebench
