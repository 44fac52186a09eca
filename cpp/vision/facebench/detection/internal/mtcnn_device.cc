#include "facebench/detection/internal/mtcnn_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>

#include "facebench/core/cuda_library.h"
#include "facebench/core/devices.h"
#include "facebench/core/error.h"

namespace facebench {
namespace {

constexpr std::string_view kWhere = "mtcnn with device=cuda";
constexpr std::string_view kDeviceAdvice = "Use device=cpu";

template <class F>
F function(const char* name) {
  std::string reason;
  void* const found = cuda_function(name, reason);
  if (found == nullptr) fail(kWhere, reason, kDeviceAdvice);
  return reinterpret_cast<F>(found);
}

}  // namespace

facebench_mtcnn_rules device_rules(const MtcnnOptions& o, const MtcnnRules& rules) {
  // The device's area filter is OpenCV's for levels and crops, or for neither.
  const bool opencv = rules.uint8_levels && rules.double_crops;
  if (opencv != (rules.uint8_levels || rules.double_crops) || rules.double_levels ||
      rules.centred_growth || rules.transpose_single || rules.mirror_landmarks ||
      (rules.mirror_single && !rules.columns_first))
    throw std::invalid_argument(
        fmt::format("mtcnn: device=cuda needs mode=facenet or facenet_pytorch, not {}", o.mode));
  if (opencv && o.min_face < 12)
    throw std::invalid_argument("mtcnn: device=cuda in mode=facenet needs min_face of at least 12");
  if (o.path != "fast") throw std::invalid_argument("mtcnn: device=cuda needs path=fast");
  facebench_mtcnn_rules r{};
  r.min_face = o.min_face;
  r.max_face = o.max_face.value_or(0);
  r.factor = o.factor;
  std::transform(o.thresholds.begin(), o.thresholds.end(), r.thresholds,
                 [](double t) { return static_cast<float>(t); });
  const std::array<NmsRule, 4> nms = rules.nms(o);
  for (int k = 0; k < 4; ++k)
    r.nms[k] = {rules.double_arithmetic ? overlap_limit<double>(nms[k].threshold)
                                        : overlap_limit<float>(nms[k].threshold),
                nms[k].of_smaller, nms[k].plus_one, nms[k].last_of_equal};
  r.power_scales = rules.power_scales;
  r.ceil_size = rules.ceil_size;
  r.zero_pad = rules.zero_pad;
  r.round_square = rules.round_square;
  r.columns_first = rules.columns_first;
  r.opencv_area = opencv;
  r.mirror_single = rules.mirror_single;
  r.double_arithmetic = rules.double_arithmetic;
  r.landmark_offset = static_cast<float>(rules.landmark_offset);
  r.box_offset = static_cast<float>(o.box_offset);
  return r;
}

std::vector<facebench_mtcnn_layer> device_layers(const MtcnnWeights& weights) {
  std::vector<facebench_mtcnn_layer> layers;
  const auto add = [&](const auto& network) {
    for (const MtcnnLayer& l : network)
      layers.push_back(
          {l.kernel, l.inputs, l.outputs, l.weights.data(), l.bias.data(), l.slope.data()});
  };
  add(weights.p);
  add(weights.r);
  add(weights.o);
  return layers;
}

facebench_mtcnn_image device_image(const Image& image) {
  return {image.data.data(), image.width, image.height};
}

std::vector<Face> faces_of_device(const facebench_mtcnn_face*& faces, int count) {
  std::vector<Face> result(static_cast<std::size_t>(std::max(count, 0)));
  for (Face& face : result) {
    const auto& [box, score, points] = *faces++;
    face.box = {box[0], box[1], box[2], box[3]};
    face.score = score;
    face.has_landmarks = true;
    for (std::size_t k = 0; k < 5; ++k) face.landmarks[k] = {points[k], points[5 + k]};
  }
  return result;
}

struct MtcnnDevice::State {
  decltype(&facebench_mtcnn_detect) detect;
  decltype(&facebench_mtcnn_close) close;
  std::string name;
  std::mutex mutex;
  std::condition_variable returned;
  std::vector<void*> detectors;  // that no call uses

  ~State() {
    for (void* detector : detectors) close(detector);
  }

  void* take() {
    std::unique_lock lock(mutex);
    returned.wait(lock, [&] { return !detectors.empty(); });
    void* const detector = detectors.back();
    detectors.pop_back();
    return detector;
  }
  void give_back(void* detector) {
    const std::lock_guard lock(mutex);
    detectors.push_back(detector);
    returned.notify_one();
  }
};

MtcnnDevice::MtcnnDevice(const MtcnnOptions& options, const MtcnnRules& rules,
                         const MtcnnWeights& weights)
    : state_(std::make_unique<State>()) {
  const facebench_mtcnn_rules r = device_rules(options, rules);  // wrong use is told first
  const auto open = function<decltype(&facebench_mtcnn_open)>("facebench_mtcnn_open");
  state_->detect = function<decltype(&facebench_mtcnn_detect)>("facebench_mtcnn_detect");
  state_->close = function<decltype(&facebench_mtcnn_close)>("facebench_mtcnn_close");
  const CudaDevices cuda = cuda_devices();
  if (cuda.devices.empty()) fail(kWhere, "there is no CUDA device: " + cuda.reason, kDeviceAdvice);
  const CudaDevice& first = cuda.devices.front();
  state_->name = fmt::format("cuda {}.{}", first.compute_major, first.compute_minor);
  std::array<char, 512> reason{};
  for (int i = 0; i < kStreams; ++i) {
    void* const detector = open(first.index, &r, device_layers(weights).data(), reason.data(),
                                static_cast<int>(reason.size()));
    if (detector == nullptr) fail(kWhere, reason.data(), kDeviceAdvice);
    state_->detectors.push_back(detector);
  }
}

MtcnnDevice::~MtcnnDevice() = default;

const std::string& MtcnnDevice::name() const { return state_->name; }

std::vector<MtcnnDevice::Answer> MtcnnDevice::detect(std::span<const Image* const> images) const {
  constexpr std::size_t most = facebench_mtcnn_most_faces;
  std::vector<facebench_mtcnn_image> inputs;
  for (const Image* image : images) inputs.push_back(device_image(*image));
  std::vector<facebench_mtcnn_face> faces(images.size() * most);
  std::vector<int> counts(images.size());
  std::array<char, 512> reason{};
  void* const detector = state_->take();
  const int failed =
      state_->detect(detector, inputs.data(), static_cast<int>(inputs.size()), faces.data(),
                     counts.data(), reason.data(), static_cast<int>(reason.size()));
  state_->give_back(detector);
  if (failed != 0) fail(kWhere, reason.data(), kDeviceAdvice);
  std::vector<Answer> answers;
  const facebench_mtcnn_face* next = faces.data();
  for (const int count : counts) answers.push_back({count >= 0, faces_of_device(next, count)});
  return answers;
}

}  // namespace facebench
