#include "facebench/training/augmentation.h"

#include <algorithm>

#include "facebench/core/random.h"

namespace facebench {

void AugmentationOptions::describe(OptionsBuilder<AugmentationOptions>& o) {
  o.name("AugmentationOptions", "How training images are varied.");
  o.field("flip", &AugmentationOptions::flip, "probability of mirroring left and right", 0, 1);
  o.field("shift", &AugmentationOptions::shift,
          "largest move in each direction, pixels; the edge is repeated", 0, 1024);
}

Variation draw_variation(const AugmentationOptions& options, std::uint64_t seed, std::int64_t epoch,
                         std::int64_t sample) {
  const auto e = static_cast<std::uint64_t>(epoch), s = static_cast<std::uint64_t>(sample);
  Variation v;
  // A stream for each purpose, so that switching one on leaves the others as they were.
  if (options.flip > 0) v.flip = Random(seed, "flip", {e, s}).uniform() < options.flip;
  if (options.shift > 0) {
    Random random(seed, "shift", {e, s});
    const auto width = static_cast<std::uint64_t>(2 * options.shift + 1);
    v.dx = static_cast<int>(random.below(width)) - options.shift;
    v.dy = static_cast<int>(random.below(width)) - options.shift;
  }
  return v;
}

PixelScale::PixelScale(const std::array<double, 3>& mean, const std::array<double, 3>& std) {
  for (std::size_t c = 0; c < 3; ++c)
    for (int v = 0; v < 256; ++v)
      table_[c][static_cast<std::size_t>(v)] = static_cast<float>((v - mean[c]) / std[c]);
}

void write_image(const std::uint8_t* pixels, const ImageShape& shape, const Variation& variation,
                 const PixelScale& scale, bool interleaved, float* out) {
  const int height = shape.height, width = shape.width;
  const std::int64_t plane = std::int64_t{height} * width;
  for (int y = 0; y < height; ++y) {
    const int from_y = std::clamp(y - variation.dy, 0, height - 1);
    const std::uint8_t* row = pixels + std::int64_t{3} * from_y * width;
    for (int x = 0; x < width; ++x) {
      int from_x = std::clamp(x - variation.dx, 0, width - 1);
      if (variation.flip) from_x = width - 1 - from_x;
      const std::int64_t at = std::int64_t{y} * width + x;
      for (int c = 0; c < 3; ++c) {
        const float value = scale(c, row[3 * from_x + c]);
        out[interleaved ? 3 * at + c : c * plane + at] = value;
      }
    }
  }
}

}  // namespace facebench
