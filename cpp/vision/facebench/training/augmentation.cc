#include "facebench/training/augmentation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/core/options.h"

namespace facebench {
namespace {

View input_view(const AugmentationOptions&, const InputView& input, Random&) {
  return input.view();
}

int random_offset(int slack, Random& random) {
  return static_cast<int>(random.below(static_cast<std::uint64_t>(slack) + 1));
}

// A part of width x height anywhere in an image of that size.
View anywhere(int image_width, int image_height, int width, int height, Random& random) {
  if (width > image_width || height > image_height)
    throw std::invalid_argument(
        fmt::format("an image of {}x{} has no part of {}x{} (height x width)", image_height,
                    image_width, height, width));
  const int y0 = random_offset(image_height - height, random);
  const int x0 = random_offset(image_width - width, random);
  return {0, 0, x0, y0, x0 + width, y0 + height};
}

View random_crop(const AugmentationOptions&, const InputView& input, Random& random) {
  return anywhere(input.image().width, input.image().height, input.input().width,
                  input.input().height, random);
}

View random_resized_crop(const AugmentationOptions& o, const InputView& input, Random& random) {
  const int width = input.image().width, height = input.image().height;
  const double all = static_cast<double>(width) * height;
  const double low = std::log(o.aspect[0]), high = std::log(o.aspect[1]);
  for (int i = 0; i < 10; ++i) {
    const double area = all * random.uniform(o.area[0], o.area[1]);
    const double aspect = std::exp(random.uniform(low, high));
    const auto w = static_cast<int>(std::nearbyint(std::sqrt(area * aspect)));
    const auto h = static_cast<int>(std::nearbyint(std::sqrt(area / aspect)));
    if (w > 0 && w <= width && h > 0 && h <= height) return anywhere(width, height, w, h, random);
  }
  const double aspect = static_cast<double>(width) / height;
  int w = width, h = height;
  if (aspect < o.aspect[0]) h = static_cast<int>(std::nearbyint(w / o.aspect[0]));
  if (aspect > o.aspect[1]) w = static_cast<int>(std::nearbyint(h * o.aspect[1]));
  return central_view(width, height, w, h);
}

View random_side_crop(const AugmentationOptions& o, const InputView& input, Random& random) {
  const int width = input.image().width, height = input.image().height;
  const auto choices = static_cast<std::uint64_t>(o.side[1] - o.side[0] + 1);
  const auto side = static_cast<double>(o.side[0]) + static_cast<double>(random.below(choices));
  const int smaller = std::min(width, height);
  const auto w = static_cast<int>(std::nearbyint(width * side / smaller));
  const auto h = static_cast<int>(std::nearbyint(height * side / smaller));
  View view = anywhere(w, h, input.input().width, input.input().height, random);
  view.width = w;
  view.height = h;
  return view;
}

View distorted_box(const AugmentationOptions& o, const InputView& input, Random& random) {
  const int width = input.image().width, height = input.image().height;
  const double all = static_cast<double>(width) * height;
  const double least = o.area[0] * all, most = o.area[1] * all;
  for (int i = 0; i < 100; ++i) {
    const double aspect = random.uniform(o.aspect[0], o.aspect[1]);
    const auto side = [&](double area) {
      return static_cast<int>(std::nearbyint(std::sqrt(area / aspect)));
    };
    int highest = std::min(side(most), height);
    if (std::nearbyint(highest * aspect) > width)
      highest = static_cast<int>((width + 0.5 - 1e-7) / aspect);
    const int lowest = std::min(side(least), highest);
    int h = lowest + random_offset(highest - lowest, random);
    auto w = static_cast<int>(std::nearbyint(h * aspect));
    // Rounding may have left the range: one row more or fewer brings it back, or the try fails.
    if (static_cast<double>(w) * h < least) w = static_cast<int>(std::nearbyint(++h * aspect));
    if (static_cast<double>(w) * h > most) w = static_cast<int>(std::nearbyint(--h * aspect));
    const double area = static_cast<double>(w) * h;
    if (area < least || area > most || w < 1 || h < 1 || w > width || h > height) continue;
    const View view = anywhere(width, height, w, h, random);
    if (area >= 0.1 * all) return view;
  }
  return {0, 0, 0, 0, width, height};
}

void check_range(double low, double high, const char* name, double least) {
  if (!(low >= least && low <= high))
    throw std::invalid_argument(
        fmt::format("{} must be two numbers of at least {}, the lower one first", name, least));
}

}  // namespace

void AugmentationOptions::describe(OptionsBuilder<AugmentationOptions>& o) {
  o.name("AugmentationOptions", "How training images are varied.");
  o.choice("view", &AugmentationOptions::view, "the part of an image that is seen",
           training_views().names());
  o.field("area", &AugmentationOptions::area,
          "of random_resized_crop and distorted_box: least and greatest share of the image", 0, 1);
  o.field("aspect", &AugmentationOptions::aspect, "of the same: least and greatest width / height",
          0, 100);
  o.field("side", &AugmentationOptions::side,
          "of random_side_crop: least and greatest smaller side, pixels", 1, 4096);
  o.field("flip", &AugmentationOptions::flip, "probability of mirroring left and right", 0, 1);
  o.field("shift", &AugmentationOptions::shift,
          "largest move in each direction, pixels; the edge is repeated", 0, 1024);
  o.choice("color", &AugmentationOptions::color, "how colours are changed",
           color_distortions().names());
}

void check_augmentation(const AugmentationOptions& options) {
  for (const auto* list : {&options.area, &options.aspect})
    if (list->size() != 2)
      throw std::invalid_argument("area and aspect need two numbers each, the lower one first");
  if (options.side.size() != 2)
    throw std::invalid_argument("side needs two numbers, the lower one first");
  check_range(options.area[0], options.area[1], "area", 1e-6);
  check_range(options.aspect[0], options.aspect[1], "aspect", 1e-6);
  check_range(static_cast<double>(options.side[0]), static_cast<double>(options.side[1]), "side",
              1);
}

const Table<TrainingViewEntry>& training_views() {
  static const Table<TrainingViewEntry> table(
      "training view",
      {
          {"input", "what embedding sees, nothing random", "this project", input_view},
          {"random_crop", "as many pixels as the input has, from anywhere",
           "Caffe's crop_size; Wang & Guo 2019, table 11", random_crop},
          {"random_resized_crop", "a part of random area and shape, resized",
           "torchvision's RandomResizedCrop; Wang & Guo 2019, table 11", random_resized_crop},
          {"random_side_crop", "resized to a random smaller side, then a random crop",
           "TensorFlow slim's vgg_preprocessing; Wang & Guo 2019, table 11", random_side_crop},
          {"distorted_box", "a part of random area and shape, resized; TensorFlow's way",
           "TensorFlow slim's inception_preprocessing; Wang & Guo 2019, table 11", distorted_box},
      });
  return table;
}

Variation draw_variation(const AugmentationOptions& options, const InputView& input,
                         std::uint64_t seed, std::int64_t epoch, std::int64_t sample) {
  const auto e = static_cast<std::uint64_t>(epoch), s = static_cast<std::uint64_t>(sample);
  // A stream for each purpose, so that switching one on leaves the others as they were.
  Variation v;
  Random place(seed, "view", {e, s}), color(seed, "color", {e, s});
  v.view = training_views().at(options.view).draw(options, input, place);
  v.color = color_distortions().at(options.color).draw(color);
  if (options.flip > 0) v.placement.mirror = Random(seed, "flip", {e, s}).uniform() < options.flip;
  if (options.shift > 0) {
    Random random(seed, "shift", {e, s});
    v.placement.dx = random_offset(2 * options.shift, random) - options.shift;
    v.placement.dy = random_offset(2 * options.shift, random) - options.shift;
  }
  return v;
}

void write_variation(const std::uint8_t* pixels, const InputView& input, const Variation& variation,
                     const PixelInput& scale, bool interleaved, float* out) {
  std::vector<std::uint8_t> buffer;
  const std::uint8_t* seen = input.apply(variation.view, pixels, buffer);
  const ImageShape shape = input.input();
  if (variation.color == ColorDistortion{})
    return scale.write(seen, shape, variation.placement, interleaved, out);
  std::vector<float> values(seen, seen + shape.bytes());
  distort_colors(values, variation.color);
  scale.write(values.data(), shape, variation.placement, interleaved, out);
}

}  // namespace facebench
