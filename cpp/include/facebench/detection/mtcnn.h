#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/options.h"
#include "facebench/core/registry.h"
#include "facebench/detection/detector.h"

namespace facebench {

// MTCNN (Zhang et al., "Joint face detection and alignment using multitask cascaded convolutional
// networks", SPL 2016), with every choice in which its published implementations differ as a named
// option. `mode` is a preset over the options below it. The field defaults are those of mode
// facenet_pytorch; mtcnn_preset() gives those of any mode.
struct MtcnnOptions {
  std::string mode = "facenet_pytorch";
  std::string weights;
  double min_face = 20;
  double max_face = 0;
  double factor = 0.709;
  std::vector<double> thresholds{0.6, 0.7, 0.7};
  std::vector<double> nms{0.5, 0.7, 0.7, 0.7};
  std::string pyramid_scale = "product";
  std::string pyramid_size = "floor_plus_one";
  std::string pyramid_resize = "mean";
  std::string crop_resize = "mean";
  std::string outside = "clamp";
  std::string square_rounding = "none";
  std::string nms_area = "plain";
  std::string nms_area_last = "plus_one";
  std::string equal_scores = "first";
  std::string candidate_order = "rows";
  std::string single_candidate = "correct";
  std::string arithmetic = "single";
  std::string landmarks = "single";
  double landmark_offset = -1;
  double box_offset = 0;
  std::string path = "fast";
  std::string device = "cpu";

  static void describe(OptionsBuilder<MtcnnOptions>& o) {
    o.name("MtcnnOptions", "The MTCNN cascade, and where its implementations differ.");
    o.choice("mode", &MtcnnOptions::mode, "preset for every option that is not given",
             {"facenet_pytorch", "facenet", "matlab"});
    o.field("weights", &MtcnnOptions::weights,
            "mtcnn.safetensors; empty = the file installed with the library");
    o.field("min_face", &MtcnnOptions::min_face, "smallest face that is looked for, pixels", 4,
            1e5);
    o.field("max_face", &MtcnnOptions::max_face,
            "largest face that the pyramid looks for, pixels; 0 = no bound", 0, 1e6);
    o.field("factor", &MtcnnOptions::factor, "from one level of the pyramid to the next", 0.1,
            0.99);
    o.field("thresholds", &MtcnnOptions::thresholds, "least scores of P-Net, R-Net and O-Net", 0,
            1);
    o.field("nms", &MtcnnOptions::nms,
            "overlap that suppresses: within a level, over all levels, after R-Net, after O-Net", 0,
            1);
    o.choice("pyramid_scale", &MtcnnOptions::pyramid_scale,
             "scale of level i: multiplied step by step, or 12 / min_face * factor^i",
             {"product", "power"});
    o.choice("pyramid_size", &MtcnnOptions::pyramid_size,
             "sides of a level: floor(side * scale + 1) or ceil(side * scale)",
             {"floor_plus_one", "ceil"});
    o.choice("pyramid_resize", &MtcnnOptions::pyramid_resize,
             "mean of whole pixels in float, or OpenCV's area filter: rounded to 8 bits, or in "
             "double precision",
             {"mean", "area_uint8", "area_double"});
    o.choice("crop_resize", &MtcnnOptions::crop_resize,
             "of the second and third stage's input: the same mean, or OpenCV's area filter in "
             "double precision",
             {"mean", "area_double"});
    o.choice("outside", &MtcnnOptions::outside,
             "boxes that leave the image: clamped (the crop changes shape) or padded with black",
             {"clamp", "zero_pad"});
    o.choice("square_rounding", &MtcnnOptions::square_rounding,
             "of boxes made square before stages two and three", {"none", "toward_zero"});
    o.choice("nms_area", &MtcnnOptions::nms_area,
             "sides when overlap is computed, first three suppressions: x1 - x0, or + 1",
             {"plain", "plus_one"});
    o.choice("nms_area_last", &MtcnnOptions::nms_area_last, "the same, after O-Net",
             {"plain", "plus_one"});
    o.choice("equal_scores", &MtcnnOptions::equal_scores,
             "which of equal scores goes first, first three suppressions (the last takes the last)",
             {"first", "last"});
    o.choice("candidate_order", &MtcnnOptions::candidate_order,
             "order of P-Net's candidates (matters among equal scores only)", {"rows", "columns"});
    o.choice("single_candidate", &MtcnnOptions::single_candidate,
             "a level with one candidate reads its own cell, the cell mirrored left to right, or "
             "its index in the transposed map",
             {"correct", "mirrored", "transposed"});
    o.choice("arithmetic", &MtcnnOptions::arithmetic, "precision of box coordinates",
             {"single", "double"});
    o.choice("landmarks", &MtcnnOptions::landmarks,
             "of the crop, or the mean of these and those of the mirrored crop",
             {"single", "mirrored_mean"});
    o.field("landmark_offset", &MtcnnOptions::landmark_offset, "added to landmarks, pixels", -10,
            10);
    o.field("box_offset", &MtcnnOptions::box_offset,
            "added to boxes and landmarks at the end, pixels (-1 turns the 1-based numbers of all "
            "modes into 0-based ones)",
            -10, 10);
    o.choice("path", &MtcnnOptions::path,
             "kernels for the processor, or the clear loops that they are compared with",
             {"fast", "plain"});
    o.choice("device", &MtcnnOptions::device,
             "the processor, or the first CUDA device (for the options of mode facenet_pytorch)",
             {"cpu", "cuda"});
  }
};

struct MtcnnMode {
  std::string name;
  std::string doc;
  MtcnnOptions options;
};
const Table<MtcnnMode>& mtcnn_modes();
// All options as the mode has them. Throws std::invalid_argument (did you mean).
MtcnnOptions mtcnn_preset(std::string_view mode);

// The detector with exactly these options (`mode` is a label here). Throws std::invalid_argument
// for options out of range or that the device lacks, Error where the weights are missing or
// damaged, or where there is no CUDA library, driver or device.
std::unique_ptr<Detector> make_mtcnn(const MtcnnOptions& options);

// mtcnn.safetensors as named by the environment variable FACEBENCH_MTCNN_WEIGHTS, else beside the
// loaded library, else in ../share/facebench. Throws Error saying how to make it.
std::filesystem::path default_mtcnn_weights();

}  // namespace facebench
