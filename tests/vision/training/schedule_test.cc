#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "facebench/training/schedule.h"

namespace facebench {
namespace {

double lr_at(const ScheduleOptions& options, std::int64_t iteration, std::int64_t total = 100,
             double per_epoch = 10) {
  return learning_rate(0.2, options, {iteration, total, per_epoch});
}

TEST(Schedule, ClosedForms) {
  ScheduleOptions o;
  for (const std::int64_t i : {0, 1, 9, 10, 37, 50, 99}) {
    const double t = static_cast<double>(i) / 100, epoch = static_cast<double>(i) / 10;
    o = {};
    o.policy = "constant";
    EXPECT_DOUBLE_EQ(lr_at(o, i), 0.2);
    o.policy = "step";
    o.step = 3;
    EXPECT_DOUBLE_EQ(lr_at(o, i), 0.2 * std::pow(0.1, static_cast<double>(i / 30)));
    o.policy = "multistep";
    o.milestones = {1, 5};
    EXPECT_DOUBLE_EQ(lr_at(o, i), 0.2 * (i < 10 ? 1 : i < 50 ? 0.1 : 0.1 * 0.1));
    o.policy = "polynomial";
    o.power = 2;
    o.final_lr = 0.02;
    EXPECT_DOUBLE_EQ(lr_at(o, i), 0.02 + 0.18 * (1 - t) * (1 - t));
    o.policy = "exponential";
    o.gamma = 0.5;
    EXPECT_DOUBLE_EQ(lr_at(o, i), 0.2 * std::exp2(-epoch));
    o.policy = "inverse";
    EXPECT_DOUBLE_EQ(lr_at(o, i), 0.2 / std::pow(1 + 0.5 * epoch, 2));
    o.policy = "cosine";
    EXPECT_NEAR(lr_at(o, i), 0.02 + 0.09 * (1 + std::cos(std::numbers::pi * t)), 1e-15);
  }
}

TEST(Schedule, WarmUpAndUnits) {
  ScheduleOptions o;
  o.policy = "step";
  o.step = 20;
  o.unit = "iterations";
  o.warmup = 10;
  o.warmup_start = 0.5;
  EXPECT_DOUBLE_EQ(lr_at(o, 0), 0.1);
  EXPECT_DOUBLE_EQ(lr_at(o, 5), 0.15);
  EXPECT_DOUBLE_EQ(lr_at(o, 10), 0.2);
  EXPECT_DOUBLE_EQ(lr_at(o, 20), 0.02);
}

}  // namespace
}  // namespace facebench
