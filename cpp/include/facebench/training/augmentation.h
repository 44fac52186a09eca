#pragma once

#include <array>
#include <cstdint>

#include "facebench/core/options.h"
#include "facebench/datasets/image_source.h"

namespace facebench {

// How training images are varied.
struct AugmentationOptions {
  double flip = 0.5;
  int shift = 0;
  static void describe(OptionsBuilder<AugmentationOptions>& o);
};

// One drawn variation: mirrored first, then moved right by dx and down by dy pixels; what is
// uncovered repeats the edge.
struct Variation {
  bool flip = false;
  int dx = 0;
  int dy = 0;
  bool operator==(const Variation&) const = default;
};

// Depends on the arguments alone: not on the batch, the thread or what was drawn before.
Variation draw_variation(const AugmentationOptions& options, std::uint64_t seed, std::int64_t epoch,
                         std::int64_t sample);

// (value - mean) / std of each channel, as a table of the 256 values in float32.
class PixelScale {
 public:
  // Requires std > 0.
  PixelScale(const std::array<double, 3>& mean, const std::array<double, 3>& std);
  float operator()(int channel, std::uint8_t value) const {
    return table_[static_cast<std::size_t>(channel)][value];
  }

 private:
  std::array<std::array<float, 256>, 3> table_;
};

// One image, varied and scaled, into `out`: H x W x 3 (interleaved) or 3 x H x W (planar) floats.
void write_image(const std::uint8_t* pixels, const ImageShape& shape, const Variation& variation,
                 const PixelScale& scale, bool interleaved, float* out);

}  // namespace facebench
