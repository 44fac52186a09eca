#include "facebench/detection/dlib.h"

// The only file that includes dlib.
#include <dlib/array2d.h>
#include <dlib/image_processing.h>
#include <dlib/image_processing/frontal_face_detector.h>
#include <dlib/image_transforms.h>
#include <dlib/pixel.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/detection/dlib_models.h"
#include "facebench/detection/internal/dlib_cnn.h"

namespace facebench {
namespace {

// An image of three channels as dlib takes it.
dlib::array2d<dlib::rgb_pixel> dlib_image(const Image& image) {
  dlib::array2d<dlib::rgb_pixel> pixels(image.height, image.width);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      const std::uint8_t* p = image.row(y) + 3 * x;
      pixels[y][x] = dlib::rgb_pixel(p[0], p[1], p[2]);
    }
  return pixels;
}

Image image_of(const dlib::array2d<dlib::rgb_pixel>& pixels) {
  Image result(static_cast<int>(pixels.nc()), static_cast<int>(pixels.nr()));
  std::uint8_t* out = result.data.data();
  for (int y = 0; y < result.height; ++y)
    for (int x = 0; x < result.width; ++x) {
      const dlib::rgb_pixel& p = pixels[y][x];
      for (const std::uint8_t value : {p.red, p.green, p.blue}) *out++ = value;
    }
  return result;
}

// dlib's five points of the face in this box, in our order: its own is of the eye at the right the
// outer and the inner corner, of that at the left the same, and the nose.
Landmarks five_points(const dlib::shape_predictor& predictor,
                      const dlib::array2d<dlib::rgb_pixel>& pixels, const dlib::rectangle& box) {
  const dlib::full_object_detection points = predictor(pixels, box);
  Landmarks result;
  constexpr unsigned long kOrder[] = {2, 0, 4, 3, 1};
  for (std::size_t k = 0; k < result.size(); ++k)
    result[k] = {static_cast<float>(points.part(kOrder[k]).x()),
                 static_cast<float>(points.part(kOrder[k]).y())};
  return result;
}

dlib::shape_predictor read_predictor() {
  std::istringstream bytes(read_dlib_model("five_points", find_dlib_model("five_points")));
  dlib::shape_predictor predictor;
  deserialize(predictor, bytes);
  return predictor;
}

// The steps of a detector of dlib's around its search.
class DlibDetector : public Detector {
 protected:
  using Pixels = dlib::array2d<dlib::rgb_pixel>;
  using Boxes = std::vector<std::pair<double, dlib::rectangle>>;

  // `most_pixels`, after doubling, take about 2 GB of working memory.
  DlibDetector(const HogOptions& options, std::optional<dlib::shape_predictor> predictor,
               std::int64_t most_pixels)
      : options_(options), predictor_(std::move(predictor)), most_pixels_(most_pixels) {
    check_options(options_);
  }

  HogOptions options_;
  std::optional<dlib::shape_predictor> predictor_;

 private:
  virtual Boxes search(const Pixels& pixels) const = 0;

  std::vector<Face> find(const Image& image, std::string_view id) const override {
    const double area = static_cast<double>(image.width) * image.height *
                        std::pow(4.0, options_.upsample);  // each doubles both sides
    if (area > static_cast<double>(most_pixels_))
      fail(id,
           fmt::format("an image of {} x {} pixels, doubled {} times, is more than {} pixels",
                       image.width, image.height, options_.upsample, most_pixels_),
           "Make the image smaller, or set upsample=0");
    const Pixels pixels = dlib_image(image);
    Pixels searched;
    dlib::assign_image(searched, pixels);
    const dlib::pyramid_down<2> twice;
    for (int i = 0; i < options_.upsample; ++i) dlib::pyramid_up(searched, twice);

    std::vector<Face> faces;
    for (const auto& [score, rectangle] : search(searched)) {
      const dlib::rectangle r =
          twice.rect_down(rectangle, static_cast<unsigned int>(options_.upsample));
      Face face;
      face.box = {static_cast<float>(r.left()), static_cast<float>(r.top()),
                  static_cast<float>(r.right() + 1), static_cast<float>(r.bottom() + 1)};
      face.score = static_cast<float>(score);
      if (predictor_) {
        face.landmarks = five_points(*predictor_, pixels, r);
        face.has_landmarks = true;
      }
      faces.push_back(face);
    }
    std::stable_sort(faces.begin(), faces.end(),
                     [](const Face& a, const Face& b) { return a.score > b.score; });
    return faces;
  }

  std::int64_t most_pixels_;
};

class Hog final : public DlibDetector {
 public:
  Hog(const HogOptions& options, std::optional<dlib::shape_predictor> predictor)
      : DlibDetector(options, std::move(predictor), 150'000'000) {
    idle_.push_back(dlib::get_frontal_face_detector());
    prototype_ = idle_.back();
  }

  Json description() const override {
    return {{"detector", predictor_ ? "dlib" : "hog"}, {"options", options_to_json(options_)}};
  }

 private:
  using Engine = dlib::frontal_face_detector;

  // dlib's detector keeps its working memory in itself, so each concurrent call has one of its own.
  Engine take() const {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return prototype_;
    Engine engine = std::move(idle_.back());
    idle_.pop_back();
    return engine;
  }
  void give_back(Engine engine) const {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(engine));
  }

  Boxes search(const Pixels& pixels) const override {
    Engine engine = take();
    Boxes boxes;
    engine(pixels, boxes, options_.threshold);
    give_back(std::move(engine));
    return boxes;
  }

  Engine prototype_;
  mutable std::mutex mutex_;
  mutable std::vector<Engine> idle_;
};

class Cnn final : public DlibDetector {
 public:
  explicit Cnn(const HogOptions& options)
      : DlibDetector(options, read_predictor(), 20'000'000), cnn_(read_network(isa_)) {}

  Json description() const override {
    return {{"detector", "dlib_cnn"},
            {"options", options_to_json(options_)},
            {"instruction_set", isa_name(isa_)}};
  }

 private:
  static DlibCnn read_network(Isa isa) {
    const std::filesystem::path path = find_dlib_model("cnn_detector");
    const std::string bytes = read_dlib_model("cnn_detector", path);
    return {read_dlib_convolutions(bytes, path.string()), isa, path.string()};
  }

  Boxes search(const Pixels& pixels) const override {
    Boxes boxes;
    for (const DlibCnn::Found& f : cnn_.find(image_of(pixels), options_.threshold))
      boxes.emplace_back(f.score,
                         dlib::rectangle(f.box.left, f.box.top, f.box.right, f.box.bottom));
    return boxes;
  }

  Isa isa_ = active_isa();
  DlibCnn cnn_;
};

}  // namespace

void HogOptions::describe(OptionsBuilder<HogOptions>& o) {
  o.name("HogOptions", "A face detector of dlib's.");
  o.field("upsample", &HogOptions::upsample, "times that the image is doubled first", 0, 4);
  o.field("threshold", &HogOptions::threshold,
          "least distance from the decision; lower finds more and errs more", -10, 10);
}

std::unique_ptr<Detector> make_hog(const HogOptions& options) {
  return std::make_unique<Hog>(options, std::nullopt);
}

std::unique_ptr<Detector> make_dlib(const HogOptions& options) {
  return std::make_unique<Hog>(options, read_predictor());
}

std::unique_ptr<Detector> make_dlib_cnn(const HogOptions& options) {
  return std::make_unique<Cnn>(options);
}

Image dlib_chip(const Image& image, const Landmarks& from, const Landmarks& to, int width,
                int height) {
  std::vector<dlib::dpoint> of_chip, of_image;
  for (std::size_t k = 0; k < to.size(); ++k) {
    of_chip.emplace_back(to[k].x, to[k].y);
    of_image.emplace_back(from[k].x, from[k].y);
  }
  const dlib::chip_dims size(static_cast<unsigned long>(height), static_cast<unsigned long>(width));
  dlib::array2d<dlib::rgb_pixel> chip;
  dlib::extract_image_chip(dlib_image(convert_color(image, ColorOrder::rgb)),
                           dlib::chip_details(of_chip, of_image, size), chip);
  return convert_color(image_of(chip), image.order);
}

}  // namespace facebench
