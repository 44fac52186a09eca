#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "facebench/core/options_fwd.h"
#include "facebench/core/random.h"
#include "facebench/core/registry.h"
#include "facebench/embedding/input_view.h"
#include "facebench/embedding/pixel_input.h"
#include "facebench/training/color_distortion.h"

namespace facebench {

// How training images are varied.
struct AugmentationOptions {
  std::string view = "input";
  std::vector<double> area = {0.08, 1};
  std::vector<double> aspect = {0.75, 4.0 / 3};
  std::vector<std::int64_t> side = {256, 512};
  double flip = 0.5;
  int shift = 0;
  std::string color = "none";
  static void describe(OptionsBuilder<AugmentationOptions>& o);
};

// Throws std::invalid_argument for what the fields alone cannot tell: a range that is not two
// numbers, the lower one first.
void check_augmentation(const AugmentationOptions& options);

// One way to choose the part of an image that is seen.
struct TrainingViewEntry {
  std::string name;
  std::string doc;
  std::string source;
  View (*draw)(const AugmentationOptions& options, const InputView& input, Random& random);
};

// input: the view that embedding takes, nothing random.
// random_crop: as many pixels as the input has, from anywhere. Caffe's crop_size.
// random_resized_crop: a part of `area` of the image and of a ratio of width to height in `aspect`,
//   drawn on the logarithm's scale, resized to the input; ten tries, then the largest middle part
//   of an allowed ratio. torchvision's RandomResizedCrop.
// random_side_crop: the smaller side of the image brought to a number of pixels in `side`, the
//   other in proportion, then a random_crop. TensorFlow slim's vgg_preprocessing.
// distorted_box: as random_resized_crop, but the ratio is drawn as it is and a part of less than a
//   tenth of the image is refused; 100 tries, then the whole image. TensorFlow's
//   sample_distorted_bounding_box as slim's inception_preprocessing calls it.
const Table<TrainingViewEntry>& training_views();

// One drawn variation.
struct Variation {
  View view;
  PixelInput::Placement placement;
  ColorDistortion color;
  bool operator==(const Variation&) const = default;
};

// Depends on the arguments alone: not on the batch, the thread or what was drawn before. Throws
// std::invalid_argument where the image is too small for the view.
Variation draw_variation(const AugmentationOptions& options, const InputView& input,
                         std::uint64_t seed, std::int64_t epoch, std::int64_t sample);

// One image, varied and scaled, into `out`: H x W x channels (interleaved) or channels x H x W.
void write_variation(const std::uint8_t* pixels, const InputView& input, const Variation& variation,
                     const PixelInput& scale, bool interleaved, float* out);

}  // namespace facebench
