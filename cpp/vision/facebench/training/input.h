#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facebench/core/options_fwd.h"
#include "facebench/datasets/image_source.h"
#include "facebench/embedding/model.h"
#include "facebench/embedding/pixel_input.h"

namespace facebench {

// How a crop becomes the network's input, and what the model does with its outputs; these go into
// the model file. `mean` and `std` are in the order of the network's channels.
struct InputOptions {
  std::optional<int> image_height;
  std::optional<int> image_width;
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

// The options of a network that is trained on these images: where the view is whole and `network`
// names no size, the images' size. Throws std::invalid_argument where the images are not of the
// size that either of the options names.
NetworkOptions network_for_images(const InputOptions& options, NetworkOptions network,
                                  const ImageShape& images);

// The size of images that a recipe's options name, for images that can be made in any size; empty
// where they name none.
std::optional<ImageShape> named_image_shape(const InputOptions& options,
                                            const NetworkOptions& network);

// What goes into the model file; the size of the images is `images`.
void set_model_input(const InputOptions& options, const ImageShape& images, ModelOptions& model);

PixelInput make_pixel_input(const InputOptions& options);

}  // namespace facebench
