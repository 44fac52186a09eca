#include "facebench/detection/internal/mtcnn_inputs.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "facebench/images/resize.h"

namespace facebench {
namespace {

constexpr float kShift = 127.5f;
constexpr float kScale = 0.0078125f;  // 1 / 128
float normalised(double value) { return static_cast<float>((value - 127.5) * 0.0078125); }

cv::Mat view(const Image& image) {
  return {image.height, image.width, CV_8UC3, const_cast<std::uint8_t*>(image.data.data())};
}

}  // namespace

MtcnnInputs::MtcnnInputs(const Image& image, const MtcnnRules& rules, bool plain)
    : image_(image),
      rules_(rules),
      plain_(plain),
      levels_(image, rules.uint8_levels ? AreaRule::rounded : AreaRule::whole),
      crops_(image, rules.double_crops ? AreaRule::covered : AreaRule::whole) {}

MtcnnNetworks::LevelRows MtcnnInputs::level(int width, int height) {
  if (rules_.double_levels) {
    cv::Mat exact, small;
    view(image_).convertTo(exact, CV_64F);
    cv::resize(exact, small, {width, height}, 0, 0, cv::INTER_AREA);
    return [small, width](int y, float* planes, long stride) {
      const auto* in = small.ptr<double>(y);
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < 3; ++c) planes[c * stride + x] = normalised(in[3 * x + c]);
    };
  }
  const bool grows = width > image_.width || height > image_.height;
  if (rules_.uint8_levels && (plain_ || grows)) {
    return [small = resize(image_, width, height, Interpolation::area), width](int y, float* planes,
                                                                               long stride) {
      const std::uint8_t* in = small.row(y);
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < 3; ++c)
          planes[c * stride + x] = (static_cast<float>(in[3 * x + c]) - kShift) * kScale;
    };
  }
  levels_.cover(0, 0, image_.width, image_.height, width, height, kShift, kScale);
  return [this](int y, float* planes, long stride) { levels_.planar_row(y, planes, stride); };
}

MtcnnWindow MtcnnInputs::inside(const MtcnnWindow& w) const {
  return {std::max(w.x0, 1), std::max(w.y0, 1), std::min(w.x1, image_.width),
          std::min(w.y1, image_.height)};
}

void MtcnnInputs::crop(const MtcnnWindow& window, int side, float* out) {
  const int width = window.x1 - window.x0 + 1, height = window.y1 - window.y0 + 1;
  const bool centred = rules_.centred_growth && (width < side || height < side);
  if (!centred && !(rules_.double_crops && plain_)) {
    crops_.cover(window.x0 - 1, window.y0 - 1, window.x1, window.y1, side, side, kShift, kScale);
    crops_.all(out);
    return;
  }
  // Black where the image ends.
  const MtcnnWindow part = inside(window);
  Image padded(width, height);
  for (int y = part.y0; !part.empty() && y <= part.y1; ++y)
    std::copy_n(image_.row(y - 1) + 3 * (part.x0 - 1), 3 * (part.x1 - part.x0 + 1),
                padded.row(y - window.y0) + 3 * (part.x0 - window.x0));
  cv::Mat exact, small;
  view(padded).convertTo(exact, CV_64F);
  cv::resize(exact, small, {side, side}, 0, 0, centred ? cv::INTER_LINEAR : cv::INTER_AREA);
  const auto* values = small.ptr<double>();
  for (int i = 0; i < side * side * 3; ++i) out[i] = normalised(values[i]);
}

}  // namespace facebench
