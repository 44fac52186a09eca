#include "facebench/detection/mtcnn.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

#include "detection/mtcnn_cascade.h"
#include "detection/mtcnn_networks.h"
#include "facebench/core/error.h"
#include "facebench/core/isa.h"

namespace facebench {
namespace {

class Mtcnn final : public Detector {
 public:
  explicit Mtcnn(const MtcnnOptions& options) : options_(checked(options)), rules_(options_) {
    const MtcnnWeights weights = read_mtcnn_weights(
        options.weights.empty() ? default_mtcnn_weights() : std::filesystem::path(options.weights));
    sha256_ = weights.sha256;
    make_networks_ = options.path == "plain" ? plain_mtcnn(weights) : fast_mtcnn(weights, isa_);
  }

  Json description() const override {
    Json options = options_to_json(options_);
    options.erase("weights");  // where the file lies decides nothing; its content does
    return {{"detector", "mtcnn"},
            {"options", options},
            {"weights_sha256", sha256_},
            {"instruction_set", isa_name(isa_)}};
  }

 private:
  static const MtcnnOptions& checked(const MtcnnOptions& options) {
    check_options(options);
    if (options.thresholds.size() != 3)
      throw std::invalid_argument("MtcnnOptions.thresholds needs three numbers");
    if (options.nms.size() != 4) throw std::invalid_argument("MtcnnOptions.nms needs four numbers");
    return options;
  }

  std::vector<Face> find(const Image& image, std::string_view) const override {
    return run_mtcnn(image, options_, rules_, *make_networks_());
  }

  MtcnnOptions options_;
  MtcnnRules rules_;
  Isa isa_ = active_isa();
  std::string sha256_;
  MtcnnNetworksFactory make_networks_;
};

MtcnnOptions facenet_options() {
  MtcnnOptions o;
  o.mode = "facenet";
  o.pyramid_scale = "power";
  o.pyramid_size = "ceil";
  o.pyramid_resize = "area_uint8";
  o.crop_resize = "area_double";
  o.outside = "zero_pad";
  o.square_rounding = "toward_zero";
  o.nms_area = "plus_one";
  o.equal_scores = "last";
  o.candidate_order = "columns";
  o.single_candidate = "mirrored";
  o.arithmetic = "double";
  return o;
}

MtcnnOptions matlab_options() {
  MtcnnOptions o = facenet_options();
  o.mode = "matlab";
  o.pyramid_resize = "area_double";
  o.single_candidate = "transposed";
  o.landmarks = "mirrored_mean";
  return o;
}

// An address inside the library that this code was linked into.
void library_anchor() {}

}  // namespace

const Table<MtcnnMode>& mtcnn_modes() {
  static const Table<MtcnnMode> table(
      "MTCNN mode",
      {{"facenet_pytorch", "as facenet-pytorch 2.6: float means, clamped crops, single precision",
        MtcnnOptions{}},
       {"facenet", "as facenet's align/detect_face.py: OpenCV area filter on 8 bits, zero padding",
        facenet_options()},
       {"matlab", "as the authors' MTCNNv1/detect_face.m: facenet's without rounding to 8 bits",
        matlab_options()}});
  return table;
}

MtcnnOptions mtcnn_preset(std::string_view mode) { return mtcnn_modes().at(mode).options; }

std::unique_ptr<Detector> make_mtcnn(const MtcnnOptions& options) {
  return std::make_unique<Mtcnn>(options);
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
