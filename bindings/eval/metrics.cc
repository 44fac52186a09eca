#include "metrics/metrics.h"

#include "modules.h"

namespace facebench {

void bind_metrics(py::module_& m) {
  bind_comparisons(m);
  bind_roc(m);
  bind_tar_at_far(m);
  bind_accuracy(m);
  bind_interval(m);
  bind_summary(m);
  bind_identification(m);
  bind_all_pairs(m);
  bind_calibration(m);
  bind_reject(m);
  bind_fixed_threshold(m);
  bind_paired(m);
  bind_group_rates(m);
  bind_discard(m);
}

}  // namespace facebench
