#pragma once

#include <string>
#include <vector>

#include "facebench/core/options.h"
#include "facebench/datasets/image_source.h"
#include "facebench/embedding/model.h"
#include "facebench/embedding/pixel_input.h"

namespace facebench {

// How a crop becomes the network's input, and what the model does with its outputs; these go into
// the model file. `mean` and `std` are in the order of the network's channels.
struct InputOptions {
  int image_height = 0;
  int image_width = 0;
  std::string view = "whole";
  double view_fraction = 0.875;
  std::string interpolation = "bilinear";
  std::string color = "rgb";
  std::vector<double> mean = {127.5};
  std::vector<double> std = {128};
  std::string tap = "embedding";
  std::string flip = "sum";
  static void describe(OptionsBuilder<InputOptions>& o);
};

// The size that a network trained with these options is built for: what `network` says, otherwise
// the images' where the view is whole, otherwise the network's default (0). Throws
// std::invalid_argument where the images are not of the size that the options name.
ImageShape trained_input(const InputOptions& options, const NetworkOptions& network,
                         const ImageShape& images);

// What goes into the model file; the size of the images is `images`.
void set_model_input(const InputOptions& options, const ImageShape& images, ModelOptions& model);

PixelInput make_pixel_input(const InputOptions& options);

}  // namespace facebench
