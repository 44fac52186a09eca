#include "facebench/detection/internal/dlib_cnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "facebench/core/error.h"
#include "facebench/core/internal/kernel_choice.h"
#include "facebench/detection/internal/dlib_cnn_kernels.h"

namespace facebench {
namespace {

// What the network's file says of its input and of its faces.
constexpr float kMean[3] = {122.782F, 117.001F, 104.298F};
constexpr long kBetween = 10, kAround = 11;  // zeros between the copies and around them
constexpr long kWindow = 80;                 // sides of a face's box
constexpr double kMostOverlap = 0.33827613511099552;

// The layers, from the input on.
struct Shape {
  long outputs, kernel, stride, padding;
};
constexpr Shape kShapes[] = {{16, 5, 2, 0}, {32, 5, 2, 0}, {32, 5, 2, 0}, {45, 5, 1, 2},
                             {45, 5, 1, 2}, {45, 5, 1, 2}, {1, 9, 1, 4}};

const DlibCnnKernels& kernels_for(Isa isa) { return FACEBENCH_KERNELS(isa, kDlibCnnKernels); }

constexpr long round_up(long value, long to) { return (value + to - 1) / to * to; }

// In [0, count - 1]: the two neighbours of a place and how far it is from the first.
struct Between {
  long low, high;
  float share;
  Between(double place, long count)
      : low(std::min(static_cast<long>(place), count - 1)),
        high(std::min(low + 1, count - 1)),
        share(static_cast<float>(place - static_cast<double>(low))) {}
};

double step(long from, long to) {
  return static_cast<double>(from - 1) / static_cast<double>(std::max(to - 1, 1L));
}

long round_half_up(double v) { return static_cast<long>(std::floor(v + .5)); }

// The level that a point of the picture lies in, or is nearest to.
std::size_t nearest_level(const std::vector<DlibBox>& levels, long x, long y) {
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const DlibBox& level = levels[k];
    const double distance = std::hypot(x - std::clamp(x, level.left, level.right),
                                       y - std::clamp(y, level.top, level.bottom));
    if (distance >= least) continue;
    least = distance;
    nearest = k;
  }
  return nearest;
}

// The box around a point of the picture, in the image.
DlibBox box_in_image(const std::vector<DlibBox>& levels, double x, double y) {
  const std::size_t level = nearest_level(levels, round_half_up(x), round_half_up(y));
  const auto in_image = [&](double v, long origin) {
    v -= static_cast<double>(origin);
    for (std::size_t k = 0; k < level; ++k) v = v * (6 / 5.) + .3;
    return round_half_up(v);
  };
  constexpr double half = (kWindow - 1) / 2.;
  const DlibBox& origin = levels[level];
  return {in_image(x - half, origin.left), in_image(y - half, origin.top),
          in_image(x + half, origin.left), in_image(y + half, origin.top)};
}

bool overlap(const DlibBox& a, const DlibBox& b) {
  const DlibBox inner{std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
                      std::min(a.bottom, b.bottom)};
  if (inner.width() <= 0 || inner.height() <= 0) return false;
  const DlibBox around{std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right),
                       std::max(a.bottom, b.bottom)};
  const auto area = [](const DlibBox& box) {
    return static_cast<double>(box.width() * box.height());
  };
  return area(inner) / area(around) > kMostOverlap;
}

}  // namespace

DlibTiles dlib_tiles(long height, long width) {
  constexpr double rate = 5 / 6.;
  constexpr long least_height = 5;
  DlibTiles tiles{0, 0, {{0, 0, width - 1, height - 1}}};
  std::vector<DlibBox>& levels = tiles.levels;
  for (;;) {
    height = static_cast<long>(std::floor(rate * static_cast<double>(height)));
    width = static_cast<long>(std::floor(rate * static_cast<double>(width)));
    if (width == 0 || height < least_height) break;
    levels.push_back({0, 0, width - 1, height - 1});
  }

  // The first column goes down until the next copy fits beside the last one, half of them done.
  const DlibBox whole = levels[0];
  long total = -2 * kBetween;
  for (const DlibBox& level : levels) total += level.height() + kBetween;
  long column = 0, last_width = 0;
  for (const DlibBox& level : levels) {
    if (level.width() <= whole.width() - last_width - kBetween &&
        (column - whole.height()) * 2 >= total - whole.height())
      break;
    column += level.height() + kBetween;
    last_width = level.width();
  }
  column -= kBetween;
  tiles.height = column + 2 * kAround;
  tiles.width = whole.width() + 2 * kAround;

  // Down at the left, then up at the right until the image itself is in the way.
  std::size_t placed = 0;
  long y = kAround;
  for (; y < column + kAround && placed < levels.size(); ++placed) {
    DlibBox& level = levels[placed];
    level = {kAround, y, kAround + level.right, y + level.bottom};
    y += level.height() + kBetween;
  }
  y -= kBetween;
  for (; placed < levels.size(); ++placed) {
    DlibBox& level = levels[placed];
    const long right = kAround + whole.width() - 1, bottom = y - 1;
    const DlibBox to{right - level.right, bottom - level.bottom, right, bottom};
    if (to.left <= levels[0].right && to.top <= levels[0].bottom) break;
    level = to;
    y -= level.height() + kBetween;
  }
  levels.resize(placed);
  return tiles;
}

DlibCnn::Map::Map(long h, long w, long c, long p)
    : height(h), width(w), channels(c), padding(p), values((h + 2 * p) * (w + 2 * p) * c) {}

DlibCnn::DlibCnn(std::span<const DlibConvolution> convolutions, Isa isa, std::string_view where)
    : kernels_(kernels_for(isa)) {
  if (convolutions.size() != std::size(kShapes))
    fail(where, fmt::format("{} convolutions are not the {} of dlib's detector",
                            convolutions.size(), std::size(kShapes)));
  long inputs = 3, padded_inputs = 3;
  for (const DlibConvolution& c : convolutions) {
    const Shape& shape = kShapes[layers_.size()];
    if (c.in != inputs || c.out != shape.outputs || c.height != shape.kernel ||
        c.width != shape.kernel)
      fail(where, fmt::format("convolution {} is not that of dlib's detector", layers_.size() + 1));
    const long padded = round_up(c.out, 16);
    const bool last = layers_.size() + 1 == std::size(kShapes);
    Layer layer{.weights = std::vector<float>(shape.kernel * shape.kernel * padded_inputs * padded),
                .bias = std::vector<float>(padded),
                .slope = std::vector<float>(padded, last ? 1 : 0),
                .shape = {.kernel = static_cast<int>(shape.kernel),
                          .inputs = static_cast<int>(padded_inputs),
                          .outputs = static_cast<int>(c.out),
                          .padded = static_cast<int>(padded)},
                .stride = shape.stride,
                .padding = shape.padding};
    const float* from = c.weight.data();
    for (long o = 0; o < c.out; ++o) {
      layer.bias[o] = c.scale[o] * c.bias[o] + c.shift[o];
      for (long i = 0; i < c.in; ++i)
        for (long y = 0; y < shape.kernel; ++y)
          for (long x = 0; x < shape.kernel; ++x) {
            const long window = (y * shape.kernel + x) * padded_inputs + i;
            const long block = o / 16 * (shape.kernel * shape.kernel * padded_inputs);
            layer.weights[(block + window) * 16 + o % 16] = c.scale[o] * *from++;
          }
    }
    layers_.push_back(std::move(layer));
    inputs = c.out;
    padded_inputs = padded;
  }
}

DlibCnn::Map DlibCnn::scores(Map map) const {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const Layer& layer = layers_[k];
    ConvLayer shape = layer.shape;
    shape.weights = layer.weights.data();
    shape.bias = layer.bias.data();
    shape.slope = layer.slope.data();
    const auto outputs = [&](long side) {
      return (side + 2 * layer.padding - shape.kernel) / layer.stride + 1;
    };
    Map result(outputs(map.height), outputs(map.width), shape.padded,
               k + 1 < layers_.size() ? layers_[k + 1].padding : 0);
    for (long y = 0; y < result.height; ++y)
      kernels_.convolve_row(map.at(y * layer.stride - layer.padding, -layer.padding),
                            layer.stride * map.channels, map.row(), static_cast<int>(result.width),
                            shape, result.at(y, 0));
    map = std::move(result);
  }
  return map;
}

std::vector<DlibCnn::Found> DlibCnn::find(const Image& image, double threshold) const {
  const DlibTiles tiles = dlib_tiles(image.height, image.width);
  Map picture(tiles.height, tiles.width, 3, 0);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      for (int c = 0; c < 3; ++c)
        picture.at(kAround + y, kAround + x)[c] =
            (static_cast<float>(image.row(y)[3 * x + c]) - kMean[c]) / 256;
  for (std::size_t k = 1; k < tiles.levels.size(); ++k) {
    const DlibBox &from = tiles.levels[k - 1], &to = tiles.levels[k];
    const double step_y = step(from.height(), to.height()), step_x = step(from.width(), to.width());
    for (long y = 0; y < to.height(); ++y) {
      const Between rows(static_cast<double>(y) * step_y, from.height());
      for (long x = 0; x < to.width(); ++x) {
        const Between columns(static_cast<double>(x) * step_x, from.width());
        const auto along = [&](long row, int c) {
          return (1 - columns.share) * picture.at(from.top + row, from.left + columns.low)[c] +
                 columns.share * picture.at(from.top + row, from.left + columns.high)[c];
        };
        for (int c = 0; c < 3; ++c)
          picture.at(to.top + y, to.left + x)[c] =
              (1 - rows.share) * along(rows.low, c) + rows.share * along(rows.high, c);
      }
    }
  }

  // A window's middle in the picture: the strides and the paddings of the layers.
  constexpr long kStride = 8, kFirst = 14;
  std::vector<Found> candidates;
  Map last = scores(std::move(picture));
  for (long y = 0; y < last.height; ++y)
    for (long x = 0; x < last.width; ++x)
      if (const double score = *last.at(y, x); score > threshold)
        candidates.push_back(
            {score, box_in_image(tiles.levels, static_cast<double>(kStride * x + kFirst),
                                 static_cast<double>(kStride * y + kFirst))});
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Found& a, const Found& b) { return a.score > b.score; });
  std::vector<Found> kept;
  for (const Found& candidate : candidates)
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const Found& better) { return overlap(better.box, candidate.box); }))
      kept.push_back(candidate);
  return kept;
}

}  // namespace facebench
