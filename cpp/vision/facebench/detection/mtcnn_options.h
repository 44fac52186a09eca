#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facebench/core/options_fwd.h"
#include "facebench/core/registry.h"

namespace facebench {

struct MtcnnRules;

// A published implementation of MTCNN, and the rules in which it differs from others.
struct MtcnnMode {
  std::string name;
  std::string doc;
  const MtcnnRules* rules;
};
const Table<MtcnnMode>& mtcnn_modes();

// MTCNN (Zhang et al., "Joint face detection and alignment using multitask cascaded convolutional
// networks", SPL 2016). Its published implementations share weights and differ in the arithmetic
// around the networks; `mode` says whose arithmetic it is (docs/detection.md lists the
// differences).
struct MtcnnOptions {
  std::string mode = "facenet";
  std::optional<std::string> weights;
  double min_face = 20;
  std::optional<double> max_face;
  double factor = 0.709;
  std::vector<double> thresholds{0.6, 0.7, 0.7};
  std::vector<double> nms{0.5, 0.7, 0.7, 0.7};
  std::optional<bool> second_look;
  double box_offset = 0;
  std::string path = "fast";
  std::string device = "cpu";

  static void describe(OptionsBuilder<MtcnnOptions>& o);
};

}  // namespace facebench
