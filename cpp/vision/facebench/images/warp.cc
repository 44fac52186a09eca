#include "facebench/images/warp.h"

#include <cmath>
#include <opencv2/imgproc.hpp>
#include <stdexcept>

namespace facebench {

Affine invert_affine(const Affine& m) {
  const double determinant = m[0] * m[4] - m[1] * m[3];
  for (const double v : m)
    if (!std::isfinite(v)) throw std::invalid_argument("the affine map is not finite");
  if (determinant == 0 || !std::isfinite(1 / determinant))
    throw std::invalid_argument("the affine map has no inverse");
  const double a = m[4] / determinant, b = -m[1] / determinant;
  const double d = -m[3] / determinant, e = m[0] / determinant;
  return {a, b, -a * m[2] - b * m[5], d, e, -d * m[2] - e * m[5]};
}

Image warp_affine(const Image& image, const Affine& m, int width, int height, std::uint8_t border) {
  check_image(image);
  invert_affine(m);  // refuses what has no inverse
  // OpenCV keeps positions in 16-bit integers.
  for (const int side : {image.width, image.height, width, height})
    if (side < 1 || side >= 32767)
      throw std::invalid_argument("a warp takes and makes images of 1 to 32,766 pixels a side");
  Image result(width, height, image.order);
  const int type = CV_8UC(image.channels());
  const cv::Mat in(image.height, image.width, type, const_cast<std::uint8_t*>(image.data.data()));
  cv::Mat out(height, width, type, result.data.data());
  const cv::Matx23d matrix(m[0], m[1], m[2], m[3], m[4], m[5]);
  cv::warpAffine(in, out, matrix, out.size(), cv::INTER_LINEAR, cv::BORDER_CONSTANT,
                 cv::Scalar::all(border));
  return result;
}

}  // namespace facebench
