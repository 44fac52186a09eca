#include "facebench/evaluation/asked_metrics.h"

#include <algorithm>

#include "facebench/evaluation/metric.h"
#include "facebench/evaluation/spec.h"

namespace facebench {

std::vector<AskedMetric> asked_metrics(const ProtocolSpec& spec) {
  std::vector<AskedMetric> asked;
  for (const MetricRequest& request : spec.metrics) {
    const Metric& metric = protocol_metrics().at(request.name);
    for (const double target : metric.targets(request.targets)) asked.push_back({metric, target});
  }
  return asked;
}

bool asks_for_searches(const ProtocolSpec& spec) {
  return std::ranges::any_of(asked_metrics(spec), [](const AskedMetric& asked) {
    return asked.metric.data == MetricData::searches;
  });
}

}  // namespace facebench
