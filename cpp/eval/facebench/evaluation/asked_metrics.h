#pragma once

#include <vector>

// What a protocol asks to be measured, for who measures a run and who compares two.
namespace facebench {

struct Metric;
struct ProtocolSpec;

// A metric at one of its targets; one without targets stands there once, with a target that is not
// looked at.
struct AskedMetric {
  const Metric& metric;
  double target;
};

// In the protocol's order.
std::vector<AskedMetric> asked_metrics(const ProtocolSpec& spec);

// Whether one of them is a metric of searches.
bool asks_for_searches(const ProtocolSpec& spec);

// Why data that can be measured have no interval where no bootstrap can be drawn of them.
inline constexpr const char* kNobodyElse = "there is a single person, so nobody else to draw";

}  // namespace facebench
