#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facebench/core/options.h"
#include "facebench/core/registry.h"
#include "facebench/detection/detector.h"

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

  static void describe(OptionsBuilder<MtcnnOptions>& o) {
    o.name("MtcnnOptions", "The MTCNN cascade.");
    o.choice("mode", &MtcnnOptions::mode, "whose implementation it follows", mtcnn_modes().names());
    o.field("weights", &MtcnnOptions::weights,
            "mtcnn.safetensors; default: the file installed with the library");
    o.field("min_face", &MtcnnOptions::min_face, "smallest face that is looked for, pixels", 4,
            1e5);
    o.field("max_face", &MtcnnOptions::max_face,
            "largest face that the pyramid looks for, pixels; default: no bound", 4, 1e6);
    o.field("factor", &MtcnnOptions::factor, "from one level of the pyramid to the next", 0.1,
            0.99);
    o.field("thresholds", &MtcnnOptions::thresholds, "least scores of P-Net, R-Net and O-Net", 0,
            1);
    o.field("nms", &MtcnnOptions::nms,
            "overlap that suppresses: within a level, over all levels, after R-Net, after O-Net", 0,
            1);
    o.field(
        "second_look", &MtcnnOptions::second_look,
        "an image without a face is searched again, within a grey border, for one that fills it; "
        "default: in mode facenet, whose program does not");
    o.field("box_offset", &MtcnnOptions::box_offset,
            "added to boxes and landmarks at the end, pixels (-1 turns the 1-based numbers of all "
            "modes into 0-based ones)",
            -10, 10);
    o.choice("path", &MtcnnOptions::path,
             "kernels for the processor, or the clear loops that they are compared with",
             {"fast", "plain"});
    o.choice("device", &MtcnnOptions::device,
             "the processor, or the first CUDA device (modes facenet and facenet_pytorch)",
             {"cpu", "cuda"});
  }
};

// Throws std::invalid_argument for options out of range or that the device lacks, Error where the
// weights are missing or damaged, or where there is no CUDA library, driver or device.
std::unique_ptr<Detector> make_mtcnn(const MtcnnOptions& options);

// mtcnn.safetensors as named by the environment variable FACEBENCH_MTCNN_WEIGHTS, else beside the
// loaded library, else in ../share/facebench. Throws Error saying how to make it.
std::filesystem::path default_mtcnn_weights();

}  // namespace facebench
