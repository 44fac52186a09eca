#include "facebench/images/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>

namespace facebench {
namespace {

// The source pixels of one output pixel, and their weights.
struct Tap {
  int first;
  std::vector<float> weights;
};

// Triangle of half-width max(1, scale) around the half-pixel position, weights summing to one.
std::vector<Tap> triangle_taps(int in, int out) {
  const double scale = static_cast<double>(in) / out;
  const double radius = std::max(1.0, scale);
  std::vector<Tap> taps(out);
  for (int i = 0; i < out; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(center - radius + 0.5));
    const int last = std::min(in, static_cast<int>(center + radius + 0.5));
    std::vector<double> weights;
    double sum = 0;
    for (int k = first; k < last; ++k) {
      weights.push_back(std::max(0.0, 1 - std::abs((k + 0.5 - center) / radius)));
      sum += weights.back();
    }
    taps[i].first = first;
    for (const double w : weights) taps[i].weights.push_back(static_cast<float>(w / sum));
  }
  return taps;
}

Image resize_antialiased(const Image& image, int width, int height) {
  const int channels = image.channels();
  const std::vector<Tap> columns = triangle_taps(image.width, width);
  const std::vector<Tap> rows = triangle_taps(image.height, height);
  const std::size_t stride = static_cast<std::size_t>(width) * channels;
  std::vector<float> wide(stride * image.height);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < width; ++x) {
      const Tap& tap = columns[x];
      for (int c = 0; c < channels; ++c) {
        const std::uint8_t* in = image.row(y) + tap.first * channels + c;
        float sum = 0;
        for (std::size_t k = 0; k < tap.weights.size(); ++k)
          sum += tap.weights[k] * static_cast<float>(in[k * channels]);
        wide[stride * y + x * channels + c] = sum;
      }
    }
  }
  Image result(width, height, image.order);
  std::vector<float> sums(stride);
  for (int y = 0; y < height; ++y) {
    const Tap& tap = rows[y];
    std::fill(sums.begin(), sums.end(), 0.f);
    for (std::size_t k = 0; k < tap.weights.size(); ++k)
      for (std::size_t i = 0; i < stride; ++i)
        sums[i] += tap.weights[k] * wide[stride * (tap.first + k) + i];
    for (std::size_t i = 0; i < stride; ++i)
      result.row(y)[i] = static_cast<std::uint8_t>(std::clamp(sums[i] + 0.5f, 0.f, 255.f));
  }
  return result;
}

int opencv_flag(Interpolation value) {
  switch (value) {
    case Interpolation::nearest:
      return cv::INTER_NEAREST;
    case Interpolation::bicubic:
      return cv::INTER_CUBIC;
    case Interpolation::area:
      return cv::INTER_AREA;
    default:
      return cv::INTER_LINEAR;
  }
}

}  // namespace

const Table<InterpolationEntry>& interpolations() {
  static const Table<InterpolationEntry> table(
      "interpolation",
      {{"nearest", "the pixel whose cell holds the point", Interpolation::nearest},
       {"bilinear", "two by two pixels, no antialiasing (as OpenCV)", Interpolation::bilinear},
       {"bicubic", "four by four pixels, no antialiasing (as OpenCV)", Interpolation::bicubic},
       {"area", "mean of the covered area when shrinking (as OpenCV)", Interpolation::area},
       {"bilinear_antialias", "triangle as wide as the scale when shrinking (as PIL)",
        Interpolation::bilinear_antialias}});
  return table;
}

Interpolation parse_interpolation(std::string_view name) { return interpolations().at(name).value; }

Image resize(const Image& image, int width, int height, Interpolation interpolation) {
  check_image(image);
  Image result(width, height, image.order);
  if (width == image.width && height == image.height) {
    result.data = image.data;
    return result;
  }
  if (interpolation == Interpolation::bilinear_antialias)
    return resize_antialiased(image, width, height);
  const int type = CV_8UC(image.channels());
  const cv::Mat in(image.height, image.width, type, const_cast<std::uint8_t*>(image.data.data()));
  cv::Mat out(height, width, type, result.data.data());
  cv::resize(in, out, out.size(), 0, 0, opencv_flag(interpolation));
  return result;
}

std::string opencv_version() { return cv::getVersionString(); }

Image cut(const Image& image, int x0, int y0, int x1, int y1) {
  check_image(image);
  if (x0 < 0 || y0 < 0 || x1 > image.width || y1 > image.height || x0 >= x1 || y0 >= y1)
    throw std::out_of_range(fmt::format("[{}, {}) x [{}, {}) is not a part of {} x {} pixels", x0,
                                        x1, y0, y1, image.width, image.height));
  Image result(x1 - x0, y1 - y0, image.order);
  for (int y = y0; y < y1; ++y)
    std::copy_n(image.row(y) + x0 * image.channels(), result.stride(), result.row(y - y0));
  return result;
}

}  // namespace facebench
