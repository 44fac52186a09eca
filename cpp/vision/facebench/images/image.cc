#include "facebench/images/image.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "facebench/core/registry.h"

namespace facebench {
namespace {

std::size_t checked_size(int width, int height, int channels) {
  const auto pixels = static_cast<std::int64_t>(width) * height;
  if (width < 1 || height < 1 || pixels >= std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument(fmt::format("an image cannot be {} x {} pixels", width, height));
  return static_cast<std::size_t>(pixels) * channels;
}

std::uint8_t luma(int r, int g, int b) {
  return static_cast<std::uint8_t>((luma_sum(r, g, b) + 32768) >> 16);
}

constexpr std::array<std::string_view, 3> kColorOrders{"rgb", "bgr", "gray"};

}  // namespace

std::string_view color_order_name(ColorOrder order) {
  return kColorOrders[static_cast<std::size_t>(order)];
}

ColorOrder parse_color_order(std::string_view name) {
  const std::vector<std::string> known(kColorOrders.begin(), kColorOrders.end());
  return static_cast<ColorOrder>(index_of_name("colour order", name, known));
}

Image::Image(int width, int height, ColorOrder order)
    : width(width),
      height(height),
      order(order),
      data(checked_size(width, height, order == ColorOrder::gray ? 1 : 3)) {}

void check_image(const Image& image) {
  const std::size_t size = checked_size(image.width, image.height, image.channels());
  if (image.data.size() != size)
    throw std::invalid_argument(
        fmt::format("an image of {} x {} pixels in {} needs {} bytes, not {}", image.width,
                    image.height, color_order_name(image.order), size, image.data.size()));
}

Image convert_color(const Image& image, ColorOrder order) {
  return convert_color(Image(image), order);
}

Image convert_color(Image&& image, ColorOrder order) {
  check_image(image);
  if (image.order == order) return std::move(image);
  const std::size_t pixels = static_cast<std::size_t>(image.width) * image.height;
  if (image.order != ColorOrder::gray && order != ColorOrder::gray) {
    for (std::size_t i = 0; i < pixels; ++i) std::swap(image.data[3 * i], image.data[3 * i + 2]);
    image.order = order;
    return std::move(image);
  }
  Image result(image.width, image.height, order);
  if (order == ColorOrder::gray) {
    const int red = image.order == ColorOrder::rgb ? 0 : 2;
    for (std::size_t i = 0; i < pixels; ++i) {
      const std::uint8_t* p = &image.data[3 * i];
      result.data[i] = luma(p[red], p[1], p[2 - red]);
    }
  } else {
    for (std::size_t i = 0; i < pixels; ++i)
      for (int c = 0; c < 3; ++c) result.data[3 * i + c] = image.data[i];
  }
  return result;
}

}  // namespace facebench
