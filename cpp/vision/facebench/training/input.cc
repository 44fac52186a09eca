#include "facebench/training/input.h"

#include <fmt/format.h>

#include <stdexcept>

#include "facebench/core/options.h"

namespace facebench {

void InputOptions::describe(OptionsBuilder<InputOptions>& o) {
  o.name("InputOptions", "How a crop becomes input, and how the trained model embeds.");
  o.field("image_height", &InputOptions::image_height,
          "height that the crops must have; default: any that fits the view", 1, 4096);
  o.field("image_width", &InputOptions::image_width,
          "width that the crops must have; default: any that fits the view", 1, 4096);
  o.choice("view", &InputOptions::view, "how the input is cut out of a crop, in embedding",
           input_views().names());
  o.field("view_fraction", &InputOptions::view_fraction, "of center_fraction", 0.01, 1);
  o.choice("interpolation", &InputOptions::interpolation,
           "between pixels, where a view changes size", interpolations().names());
  o.choice("color", &InputOptions::color, "order of the input's channels", {"rgb", "bgr", "gray"});
  o.field("mean", &InputOptions::mean,
          "subtracted from pixels 0..255: one number, or one for each channel", -1e6, 1e6);
  o.field("std", &InputOptions::std, "divides after that: one number, or one for each channel",
          1e-6, 1e6);
  o.field("tap", &InputOptions::tap, "the value of the network that the trained model gives");
  o.choice("flip", &InputOptions::flip,
           "of the trained model: the mirrored image's output is not used, added or appended",
           {"none", "sum", "concat"});
}

NetworkOptions network_for_images(const InputOptions& options, NetworkOptions network,
                                  const ImageShape& images) {
  const auto check = [&](const ImageShape& wanted) {
    if (wanted != images)
      throw std::invalid_argument(fmt::format(
          "the recipe takes images of {0}x{1}, the data's are {2}x{3} (height x width). "
          "Crop to {0}x{1} (--crop-size), or set the sizes that the recipe names "
          "(network.height, input.image_height, ...)",
          wanted.height, wanted.width, images.height, images.width));
  };
  check({options.image_height.value_or(images.height), options.image_width.value_or(images.width)});
  if (options.view != "whole") return network;
  network.height = network.height.value_or(images.height);
  network.width = network.width.value_or(images.width);
  check({*network.height, *network.width});
  return network;
}

std::optional<ImageShape> named_image_shape(const InputOptions& options,
                                            const NetworkOptions& network) {
  std::optional<int> height = options.image_height, width = options.image_width;
  if (options.view == "whole") {
    if (!height) height = network.height;
    if (!width) width = network.width;
  }
  if (!height || !width) return std::nullopt;
  return ImageShape{*height, *width};
}

void set_model_input(const InputOptions& options, const ImageShape& images, ModelOptions& model) {
  model.view = options.view;
  model.view_fraction = options.view_fraction;
  model.interpolation = options.interpolation;
  if (options.view != "whole") {
    model.image_height = images.height;
    model.image_width = images.width;
  }
  model.color = options.color;
  model.mean = options.mean;
  model.std = options.std;
  model.tap = options.tap;
  model.flip = options.flip;
}

PixelInput make_pixel_input(const InputOptions& options) {
  return {options.color, options.mean, options.std};
}

}  // namespace facebench
