#include "facebench/detection/mtcnn.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <utility>

#include "detection/mtcnn_boxes.h"
#include "detection/mtcnn_networks.h"
#include "facebench/core/error.h"
#include "facebench/core/isa.h"
#include "facebench/images/resize.h"

namespace facebench {
namespace {

constexpr float kShift = 127.5f;
constexpr float kScale = 0.0078125f;  // 1 / 128
constexpr int kStride = 2, kCell = 12;

// The options with their words resolved.
struct Rules {
  bool power_scales, ceil_size, uint8_levels, double_crops, zero_pad, round_square;
  bool columns_first, mirror_single;
  NmsRule within_level, over_levels, after_rnet, after_onet;

  explicit Rules(const MtcnnOptions& o)
      : power_scales(o.pyramid_scale == "power"),
        ceil_size(o.pyramid_size == "ceil"),
        uint8_levels(o.pyramid_resize == "area_uint8"),
        double_crops(o.crop_resize == "area_double"),
        zero_pad(o.outside == "zero_pad"),
        round_square(o.square_rounding == "toward_zero"),
        columns_first(o.candidate_order == "columns"),
        mirror_single(o.single_candidate == "mirrored") {
    const bool plus_one = o.nms_area == "plus_one", last = o.equal_scores == "last";
    within_level = {o.nms.at(0), false, plus_one, last};
    over_levels = {o.nms.at(1), false, plus_one, last};
    after_rnet = {o.nms.at(2), false, plus_one, last};
    after_onet = {o.nms.at(3), true, o.nms_area_last == "plus_one", true};
  }
};

cv::Mat view(const Image& image) {
  return {image.height, image.width, CV_8UC3, const_cast<std::uint8_t*>(image.data.data())};
}

// One image on its way through the cascade, with box coordinates in the precision T.
template <class T>
class Cascade {
 public:
  Cascade(const Image& image, const MtcnnOptions& options, const Rules& rules,
          const MtcnnNetworks& networks)
      : image_(image), options_(options), rules_(rules), networks_(networks), sampler_(image) {}

  std::vector<Face> run() {
    std::vector<Candidate<T>> boxes = propose();
    boxes = refine(std::move(boxes));
    boxes = output(std::move(boxes));
    std::vector<Face> faces;
    faces.reserve(boxes.size());
    const T offset = static_cast<T>(options_.box_offset);
    for (const Candidate<T>& c : boxes) {
      Face face;
      face.box = {static_cast<float>(c.x0 + offset), static_cast<float>(c.y0 + offset),
                  static_cast<float>(c.x1 + offset), static_cast<float>(c.y1 + offset)};
      face.score = c.score;
      face.has_landmarks = true;
      for (int k = 0; k < 5; ++k)
        face.landmarks[k] = {c.landmarks[k] + static_cast<float>(offset),
                             c.landmarks[5 + k] + static_cast<float>(offset)};
      faces.push_back(face);
    }
    return faces;
  }

 private:
  std::vector<double> scales() const {
    const double first = kCell / options_.min_face;
    double side = std::min(image_.width, image_.height) * first;
    double scale = first;
    std::vector<double> result;
    for (int i = 0; side >= kCell; ++i) {
      const double s = rules_.power_scales ? first * std::pow(options_.factor, i) : scale;
      if (options_.max_face == 0 || kCell / s <= options_.max_face) result.push_back(s);
      scale *= options_.factor;
      side *= options_.factor;
    }
    return result;
  }

  int level_side(int side, double scale) const {
    return static_cast<int>(rules_.ceil_size ? std::ceil(side * scale) : side * scale + 1);
  }

  // P-Net over the pyramid.
  std::vector<Candidate<T>> propose() {
    std::vector<Candidate<T>> all;
    for (const double scale : scales()) {
      const int width = level_side(image_.width, scale), height = level_side(image_.height, scale);
      if (width < kCell || height < kCell) continue;
      make_level(width, height);
      networks_.pnet(input_.data(), height, width, scratch_, probability_, correction_);
      const auto kept = suppress(candidates(width, height, scale), rules_.within_level);
      all.insert(all.end(), kept.begin(), kept.end());
    }
    all = suppress(all, rules_.over_levels);
    for (Candidate<T>& c : all) {
      apply_correction(c, T{0});
      make_square(c, rules_.round_square);
    }
    return all;
  }

  void make_level(int width, int height) {
    input_.resize(static_cast<std::size_t>(width) * height * 3);
    if (!rules_.uint8_levels) {
      sampler_.sample(0, 0, image_.width, image_.height, width, height, kShift, kScale,
                      input_.data());
      return;
    }
    const Image level = resize(image_, width, height, Interpolation::area);
    for (std::size_t i = 0; i < input_.size(); ++i)
      input_[i] = (static_cast<float>(level.data[i]) - kShift) * kScale;
  }

  std::vector<Candidate<T>> candidates(int width, int height, double scale) const {
    const auto threshold = static_cast<float>(options_.thresholds[0]);
    const int columns = MtcnnNetworks::pnet_cells(width), rows = MtcnnNetworks::pnet_cells(height);
    std::vector<Candidate<T>> result;
    std::size_t mirrored = 0;
    const auto consider = [&](int x, int y) {
      const std::size_t cell = static_cast<std::size_t>(y) * columns + x;
      if (!(probability_[cell] >= threshold)) return;
      Candidate<T> c{};
      const T s = static_cast<T>(scale);
      c.x0 = std::floor(static_cast<T>(kStride * x + 1) / s);
      c.y0 = std::floor(static_cast<T>(kStride * y + 1) / s);
      c.x1 = std::floor(static_cast<T>(kStride * x + kCell) / s);
      c.y1 = std::floor(static_cast<T>(kStride * y + kCell) / s);
      c.score = probability_[cell];
      std::copy_n(&correction_[4 * cell], 4, c.correction);
      result.push_back(c);
      mirrored = static_cast<std::size_t>(y) * columns + (columns - 1 - x);
    };
    if (rules_.columns_first) {
      for (int x = 0; x < columns; ++x)
        for (int y = 0; y < rows; ++y) consider(x, y);
    } else {
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) consider(x, y);
    }
    if (rules_.mirror_single && result.size() == 1)
      std::copy_n(&correction_[4 * mirrored], 4, result[0].correction);
    return result;
  }

  // R-Net on the crops of the boxes.
  std::vector<Candidate<T>> refine(std::vector<Candidate<T>> boxes) {
    boxes = make_crops(std::move(boxes), 24);
    const int count = static_cast<int>(boxes.size());
    probability_.resize(count);
    correction_.resize(4 * boxes.size());
    networks_.rnet(input_.data(), count, scratch_, probability_.data(), correction_.data());
    boxes = suppress(passed(boxes, options_.thresholds[1]), rules_.after_rnet);
    for (Candidate<T>& c : boxes) {
      apply_correction(c, T{1});
      make_square(c, rules_.round_square);
    }
    return boxes;
  }

  // O-Net on the crops of the boxes.
  std::vector<Candidate<T>> output(std::vector<Candidate<T>> boxes) {
    boxes = make_crops(std::move(boxes), 48);
    const int count = static_cast<int>(boxes.size());
    probability_.resize(count);
    correction_.resize(4 * boxes.size());
    std::vector<float> landmarks(10 * boxes.size());
    networks_.onet(input_.data(), count, scratch_, probability_.data(), correction_.data(),
                   landmarks.data());
    const T offset = static_cast<T>(options_.landmark_offset);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      Candidate<T>& c = boxes[i];
      const T w = c.x1 - c.x0 + 1, h = c.y1 - c.y0 + 1;
      for (int k = 0; k < 5; ++k) {
        c.landmarks[k] =
            static_cast<float>(w * static_cast<T>(landmarks[10 * i + k]) + c.x0 + offset);
        c.landmarks[5 + k] =
            static_cast<float>(h * static_cast<T>(landmarks[10 * i + 5 + k]) + c.y0 + offset);
      }
    }
    boxes = passed(boxes, options_.thresholds[2]);
    for (Candidate<T>& c : boxes) apply_correction(c, T{1});
    return suppress(boxes, rules_.after_onet);
  }

  // Those whose new score passes, with the new score and corrections.
  std::vector<Candidate<T>> passed(const std::vector<Candidate<T>>& boxes, double threshold) const {
    std::vector<Candidate<T>> result;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (!(probability_[i] > static_cast<float>(threshold))) continue;
      Candidate<T> c = boxes[i];
      c.score = probability_[i];
      std::copy_n(&correction_[4 * i], 4, c.correction);
      result.push_back(c);
    }
    return result;
  }

  // Fills input_ with the crops of those boxes that have pixels, and returns these.
  std::vector<Candidate<T>> make_crops(std::vector<Candidate<T>> boxes, int side) {
    const std::size_t size = static_cast<std::size_t>(side) * side * 3;
    input_.resize(size * boxes.size());
    std::size_t kept = 0;
    for (const Candidate<T>& c : boxes) {
      if (!c.within(2 * static_cast<T>(std::max(image_.width, image_.height)))) continue;
      // 1-based and inclusive, as all of MTCNN's coordinates.
      const Window w{static_cast<int>(c.x0), static_cast<int>(c.y0), static_cast<int>(c.x1),
                     static_cast<int>(c.y1)};
      if (crop(w, side, input_.data() + size * kept)) boxes[kept++] = c;
    }
    boxes.resize(kept);
    return boxes;
  }

  struct Window {
    int x0, y0, x1, y1;
    bool operator==(const Window&) const = default;
  };

  bool crop(const Window& window, int side, float* out) const {
    const Window inside{std::max(window.x0, 1), std::max(window.y0, 1),
                        std::min(window.x1, image_.width), std::min(window.y1, image_.height)};
    const bool any = inside.x1 >= inside.x0 && inside.y1 >= inside.y0;
    if (!any && !rules_.zero_pad) return false;
    const Window target = rules_.zero_pad ? window : inside;
    if (target.x1 < target.x0 || target.y1 < target.y0) return false;
    if (!rules_.double_crops && target == inside) {
      sampler_.sample(inside.x0 - 1, inside.y0 - 1, inside.x1, inside.y1, side, side, kShift,
                      kScale, out);
      return true;
    }
    Image part(target.x1 - target.x0 + 1, target.y1 - target.y0 + 1);
    for (int y = inside.y0; any && y <= inside.y1; ++y)
      std::copy_n(image_.row(y - 1) + 3 * (inside.x0 - 1), 3 * (inside.x1 - inside.x0 + 1),
                  part.row(y - target.y0) + 3 * (inside.x0 - target.x0));
    if (!rules_.double_crops) {
      AreaSampler(part).sample(0, 0, part.width, part.height, side, side, kShift, kScale, out);
      return true;
    }
    cv::Mat exact, small;
    view(part).convertTo(exact, CV_64F);
    cv::resize(exact, small, {side, side}, 0, 0, cv::INTER_AREA);
    const auto* values = small.ptr<double>();
    for (int i = 0; i < side * side * 3; ++i)
      out[i] = static_cast<float>((values[i] - 127.5) * 0.0078125);
    return true;
  }

  const Image& image_;
  const MtcnnOptions& options_;
  const Rules& rules_;
  const MtcnnNetworks& networks_;
  AreaSampler sampler_;
  MtcnnNetworks::Scratch scratch_;
  std::vector<float> input_, probability_, correction_;
};

class Mtcnn final : public Detector {
 public:
  explicit Mtcnn(const MtcnnOptions& options)
      : options_(checked(options)),
        rules_(options_),
        networks_(options.weights.empty() ? default_mtcnn_weights()
                                          : std::filesystem::path(options.weights)) {}

  Json description() const override {
    Json options = options_to_json(options_);
    options.erase("weights");  // where the file lies decides nothing; its content does
    return {{"detector", "mtcnn"},
            {"options", options},
            {"weights_sha256", networks_.sha256()},
            {"instruction_set", isa_name(networks_.isa())}};
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
    if (options_.arithmetic == "double")
      return Cascade<double>(image, options_, rules_, networks_).run();
    return Cascade<float>(image, options_, rules_, networks_).run();
  }

  MtcnnOptions options_;
  Rules rules_;
  MtcnnNetworks networks_;
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

// An address inside the library that this code was linked into.
void library_anchor() {}

}  // namespace

const Table<MtcnnMode>& mtcnn_modes() {
  static const Table<MtcnnMode> table(
      "MTCNN mode",
      {{"facenet_pytorch", "as facenet-pytorch 2.6: float means, clamped crops, single precision",
        MtcnnOptions{}},
       {"facenet", "as facenet's align/detect_face.py: OpenCV area filter on 8 bits, zero padding",
        facenet_options()}});
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
