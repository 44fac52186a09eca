#include "facebench/detection/mtcnn.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/isa.h"
#include "facebench/core/options.h"
#include "facebench/detection/internal/gathered_calls.h"
#include "facebench/detection/internal/mtcnn_cascade.h"
#include "facebench/detection/internal/mtcnn_device.h"
#include "facebench/detection/internal/mtcnn_networks.h"
#include "facebench/images/resize.h"

namespace facebench {
namespace {

const MtcnnOptions& checked(const MtcnnOptions& options) {
  check_options(options);
  if (options.thresholds.size() != 3)
    throw std::invalid_argument("MtcnnOptions.thresholds needs three numbers");
  if (options.nms.size() != 4) throw std::invalid_argument("MtcnnOptions.nms needs four numbers");
  return options;
}

class Mtcnn : public Detector {
 public:
  Mtcnn(const MtcnnOptions& options, const MtcnnRules& rules, const MtcnnWeights& weights)
      : options_(options), rules_(rules), sha256_(weights.sha256) {
    options_.second_look = options.second_look.value_or(options.mode == "facenet");
    make_networks_ = options.path == "plain" ? plain_mtcnn(weights) : fast_mtcnn(weights, isa_);
  }

  Json description() const override {
    Json options = options_to_json(options_);
    options.erase("weights");  // where the file lies decides nothing; its content does
    Json said = {{"detector", "mtcnn"},
                 {"options", options},
                 {"weights_sha256", sha256_},
                 {"instruction_set", isa_name(isa_)}};
    if (rules_.double_levels) said["opencv"] = opencv_version();  // which resizes for it
    return said;
  }

 protected:
  std::vector<Face> find(const Image& image, std::string_view) const override {
    std::unique_ptr<MtcnnNetworks> networks = take();
    std::vector<Face> faces = run_mtcnn(image, options_, rules_, *networks);
    if (faces.empty()) faces = look_again(image, *networks);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(networks));
    return faces;
  }

  // The second look at an image without a face, where it is asked for.
  std::vector<Face> second_look(const Image& image) const {
    std::unique_ptr<MtcnnNetworks> networks = take();
    std::vector<Face> faces = look_again(image, *networks);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(networks));
    return faces;
  }

 private:
  // P-Net has no window larger than the image, so a face that reaches far beyond it is not found.
  // Within a border there is one. Grey is what the networks see as 0.
  std::vector<Face> look_again(const Image& image, MtcnnNetworks& networks) const {
    constexpr double share = .35, smallest = .5;  // of the shorter side
    constexpr std::uint8_t grey = 127;
    const int side = std::min(image.width, image.height);
    MtcnnOptions options = options_;
    options.min_face = std::max(options_.min_face, smallest * side);
    if (!*options_.second_look || options.max_face.value_or(options.min_face) < options.min_face)
      return {};
    const int border = static_cast<int>(std::lround(share * side));
    Image framed(image.width + 2 * border, image.height + 2 * border);
    std::fill(framed.data.begin(), framed.data.end(), grey);
    for (int y = 0; y < image.height; ++y)
      std::copy_n(image.row(y), image.stride(), framed.row(y + border) + 3 * border);
    std::vector<Face> faces = run_mtcnn(framed, options, rules_, networks);
    const auto shift = static_cast<float>(border);
    for (Face& face : faces) {
      face.box = {face.box.x0 - shift, face.box.y0 - shift, face.box.x1 - shift,
                  face.box.y1 - shift};
      for (Point& p : face.landmarks) p = {p.x - shift, p.y - shift};
    }
    return faces;
  }

  // Networks that no thread uses at the moment, kept so that the next image can use their memory.
  std::unique_ptr<MtcnnNetworks> take() const {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto networks = std::move(idle_.back());
        idle_.pop_back();
        return networks;
      }
    }
    return make_networks_();
  }

  MtcnnOptions options_;
  MtcnnRules rules_;
  Isa isa_ = active_isa();
  std::string sha256_;
  MtcnnNetworksFactory make_networks_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<MtcnnNetworks>> idle_;
};

// On a device; what does not fit there is found on the processor.
class CudaMtcnn final : public Mtcnn {
 public:
  CudaMtcnn(const MtcnnOptions& options, const MtcnnRules& rules, const MtcnnWeights& weights)
      : Mtcnn(options, rules, weights), device_(options, rules, weights) {}

  int callers(const Job& job) const override {
    return std::max(job.workers(), kAtOnce * MtcnnDevice::kStreams);
  }

  Json description() const override {
    Json result = Mtcnn::description();
    result["instruction_set"] = device_.name();
    return result;
  }

  std::vector<std::vector<Face>> detect_all(std::span<const Image> images,
                                            std::span<const std::string> sample_ids,
                                            const Job& job) const override {
    check_sample_ids(images, sample_ids);
    Stage stage(job, "detecting", static_cast<std::int64_t>(images.size()), "images");
    std::vector<std::vector<Face>> result;
    std::int64_t left = 0;  // to the processor
    while (result.size() < images.size()) {
      const auto part = images.subspan(
          result.size(), std::min<std::size_t>(kAtOnce, images.size() - result.size()));
      left += append(part, result, job);
      stage.update(static_cast<std::int64_t>(result.size()),
                   left > 0 ? fmt::format("{} on the processor", left) : "");
    }
    return result;
  }

 private:
  std::vector<Face> find(const Image& image, std::string_view name) const override {
    MtcnnDevice::Answer answer = calls_.answer(image);
    if (!answer.fits) return Mtcnn::find(image, name);
    return answer.faces.empty() ? second_look(image) : std::move(answer.faces);
  }

  // Adds the faces of each image; returns how many images did not fit.
  std::int64_t append(std::span<const Image> images, std::vector<std::vector<Face>>& result,
                      const Job& job) const {
    std::vector<Image> converted(images.size());
    std::vector<const Image*> inputs;
    for (std::size_t i = 0; i < images.size(); ++i) {
      check_image(images[i]);
      const bool rgb = images[i].order == ColorOrder::rgb;
      if (!rgb) converted[i] = convert_color(images[i], ColorOrder::rgb);
      inputs.push_back(rgb ? &images[i] : &converted[i]);
    }
    std::vector<MtcnnDevice::Answer> answers = device_.detect(inputs);
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (!answers[i].fits || answers[i].faces.empty()) left.push_back(i);
    parallel_for(static_cast<std::int64_t>(left.size()), job, [&](std::int64_t k, int) {
      const std::size_t i = left[k];
      answers[i].faces = answers[i].fits ? second_look(*inputs[i]) : Mtcnn::find(*inputs[i], {});
    });
    const auto misfits = std::count_if(answers.begin(), answers.end(),
                                       [](const auto& answer) { return !answer.fits; });
    for (MtcnnDevice::Answer& answer : answers) result.push_back(std::move(answer.faces));
    return misfits;
  }

  static constexpr int kAtOnce = 64;  // images in a call

  MtcnnDevice device_;
  // Threads that each have one image share a call of the device.
  mutable GatheredCalls<Image, MtcnnDevice::Answer> calls_{
      [this](std::span<const Image* const> images) { return device_.detect(images); }, kAtOnce,
      MtcnnDevice::kStreams};
};

// An address inside the library that this code was linked into.
void library_anchor() {}

}  // namespace

std::unique_ptr<Detector> make_mtcnn(const MtcnnOptions& options) {
  return make_mtcnn(checked(options), *mtcnn_modes().at(options.mode).rules);
}

std::unique_ptr<Detector> make_mtcnn(const MtcnnOptions& options, const MtcnnRules& rules) {
  const MtcnnWeights weights = read_mtcnn_weights(
      options.weights ? std::filesystem::path(*options.weights) : default_mtcnn_weights());
  if (options.device == "cuda") return std::make_unique<CudaMtcnn>(options, rules, weights);
  return std::make_unique<Mtcnn>(options, rules, weights);
}

std::filesystem::path default_mtcnn_weights() {
  constexpr std::string_view name = "mtcnn.safetensors";
  const std::string advice =
      "Make it with: pip install mtcnn==1.0.0 --no-deps joblib lz4, then python "
      "scripts/convert_mtcnn.py --out mtcnn.safetensors; name it in the option weights or in "
      "FACEBENCH_MTCNN_WEIGHTS";
  if (const char* given = std::getenv("FACEBENCH_MTCNN_WEIGHTS"); given && *given) {
    if (!std::filesystem::is_regular_file(given))
      fail(given, "FACEBENCH_MTCNN_WEIGHTS names a file that is not there", advice);
    return given;
  }
  Dl_info info{};
  std::filesystem::path folder;
  if (dladdr(reinterpret_cast<void*>(&library_anchor), &info) != 0 && info.dli_fname)
    folder = std::filesystem::absolute(info.dli_fname).parent_path();
  for (const std::filesystem::path& place : {folder / name, folder / "../share/facebench" / name})
    if (std::filesystem::is_regular_file(place)) return place;
  fail((folder / name).string(), "MTCNN's weights are not there", advice);
}

}  // namespace facebench
