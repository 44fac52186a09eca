#include "facebench/detection/hog.h"

// The only file that includes dlib.
#include <dlib/image_processing/frontal_face_detector.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "facebench/core/error.h"

namespace facebench {
namespace {

// About 2 GB of working memory.
constexpr std::int64_t kMostPixels = 150'000'000;

class Hog final : public Detector {
 public:
  explicit Hog(const HogOptions& options) : options_(options) {
    check_options(options_);
    idle_.push_back(dlib::get_frontal_face_detector());
    prototype_ = idle_.back();
  }

  Json description() const override {
    return {{"detector", "hog"}, {"options", options_to_json(options_)}};
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

  std::vector<Face> find(const Image& image, std::string_view id) const override {
    const double searched = static_cast<double>(image.width) * image.height *
                            std::pow(4.0, options_.upsample);  // each doubles both sides
    if (searched > static_cast<double>(kMostPixels))
      fail(id,
           fmt::format("an image of {} x {} pixels, doubled {} times, is more than {} pixels",
                       image.width, image.height, options_.upsample, kMostPixels),
           "Make the image smaller, or set upsample=0");
    dlib::array2d<dlib::rgb_pixel> pixels(image.height, image.width);
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x) {
        const std::uint8_t* p = image.row(y) + 3 * x;
        pixels[y][x] = dlib::rgb_pixel(p[0], p[1], p[2]);
      }
    const dlib::pyramid_down<2> twice;
    for (int i = 0; i < options_.upsample; ++i) dlib::pyramid_up(pixels, twice);

    Engine engine = take();
    std::vector<std::pair<double, dlib::rectangle>> found;
    engine(pixels, found, options_.threshold);
    give_back(std::move(engine));

    std::vector<Face> faces;
    for (const auto& [score, rectangle] : found) {
      const dlib::rectangle r =
          twice.rect_down(rectangle, static_cast<unsigned int>(options_.upsample));
      Face face;
      face.box = {static_cast<float>(r.left()), static_cast<float>(r.top()),
                  static_cast<float>(r.right() + 1), static_cast<float>(r.bottom() + 1)};
      face.score = static_cast<float>(score);
      faces.push_back(face);
    }
    std::stable_sort(faces.begin(), faces.end(),
                     [](const Face& a, const Face& b) { return a.score > b.score; });
    return faces;
  }

  HogOptions options_;
  Engine prototype_;
  mutable std::mutex mutex_;
  mutable std::vector<Engine> idle_;
};

}  // namespace

void HogOptions::describe(OptionsBuilder<HogOptions>& o) {
  o.name("HogOptions", "dlib's frontal face detector.");
  o.field("upsample", &HogOptions::upsample, "times that the image is doubled first", 0, 4);
  o.field("threshold", &HogOptions::threshold,
          "least distance from the decision; lower finds more and errs more", -10, 10);
}

std::unique_ptr<Detector> make_hog(const HogOptions& options) {
  return std::make_unique<Hog>(options);
}

}  // namespace facebench
