#pragma once

#include <memory>
#include <span>
#include <vector>

#include "facebench/detection/internal/mtcnn_cascade.h"
#include "facebench/detection/internal/mtcnn_cuda.h"
#include "facebench/detection/internal/mtcnn_weights.h"
#include "facebench/detection/mtcnn_options.h"

namespace facebench {

// The options as the device wants them. Throws std::invalid_argument for those that it lacks.
facebench_mtcnn_rules device_rules(const MtcnnOptions& options, const MtcnnRules& rules);
// All layers of the three networks; they point into the weights.
std::vector<facebench_mtcnn_layer> device_layers(const MtcnnWeights& weights);
facebench_mtcnn_image device_image(const Image& image);
// The next `count` faces (none where that is below 0); moves `faces` behind them.
std::vector<Face> faces_of_device(const facebench_mtcnn_face*& faces, int count);

// MTCNN on the first CUDA device, through libfacebench_cuda. kStreams calls at a time are worked
// on, so that the device computes one while the processor prepares another; further ones wait.
class MtcnnDevice {
 public:
  static constexpr int kStreams = 2;

  // Throws Error where there is no CUDA library, driver or device.
  MtcnnDevice(const MtcnnOptions& options, const MtcnnRules& rules, const MtcnnWeights& weights);
  ~MtcnnDevice();
  MtcnnDevice(const MtcnnDevice&) = delete;
  MtcnnDevice& operator=(const MtcnnDevice&) = delete;

  // "cuda 9.0": what compiled code it runs decides the last bits.
  const std::string& name() const;

  struct Answer {
    bool fits;  // else there were more candidates than places, and `faces` is empty
    std::vector<Face> faces;
  };
  // Any sizes together; images are rgb. Throws Error where the device fails.
  std::vector<Answer> detect(std::span<const Image* const> images) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace facebench
