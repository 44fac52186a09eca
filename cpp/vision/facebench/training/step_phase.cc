#include "facebench/training/step_phase.h"

namespace facebench {

std::string_view step_phase_name(StepPhase phase) {
  static constexpr std::string_view kNames[] = {"data",      "forward", "backward",
                                                "aggregate", "update",  "done"};
  return kNames[static_cast<std::size_t>(phase)];
}

}  // namespace facebench
