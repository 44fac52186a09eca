#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/random.h"
#include "facebench/detection/face.h"
#include "facebench/detection/mtcnn.h"
#include "facebench/images/image.h"
#include "facebench/io/json.h"

namespace facebench {

inline bool have_weights() {
  try {
    default_mtcnn_weights();
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Blobs of eight pixels with a little noise; low thresholds find many boxes in it.
inline Image texture(int width, int height, std::uint64_t seed) {
  Random random(seed, "texture");
  std::vector<double> coarse((width / 8 + 2) * (height / 8 + 2) * 3);
  for (double& v : coarse) v = random.uniform(0, 255);
  Image image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        const auto at = [&](int i, int j) {
          return coarse[((y / 8 + j) * (width / 8 + 2) + x / 8 + i) * 3 + c];
        };
        const double fx = x % 8 / 8.0, fy = y % 8 / 8.0;
        const double v = (at(0, 0) * (1 - fx) + at(1, 0) * fx) * (1 - fy) +
                         (at(0, 1) * (1 - fx) + at(1, 1) * fx) * fy + random.uniform(-5, 5);
        image.row(y)[3 * x + c] = static_cast<std::uint8_t>(std::clamp(v, 0.0, 255.0));
      }
  return image;
}

// Thresholds that let plenty of boxes through all three stages.
inline Json eager(const char* mode = "facenet") {
  return {{"mode", mode}, {"thresholds", {0.1, 0.01, 0.003}}};
}

// The agreement that all ways of computing MTCNN promise.
inline void expect_same(const std::vector<Face>& faces, const std::vector<Face>& reference) {
  ASSERT_EQ(faces.size(), reference.size());
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const Face &a = faces[i], &b = reference[i];
    EXPECT_NEAR(a.score, b.score, 1e-4);
    EXPECT_NEAR(a.box.x0, b.box.x0, 0.01);
    EXPECT_NEAR(a.box.y0, b.box.y0, 0.01);
    EXPECT_NEAR(a.box.x1, b.box.x1, 0.01);
    EXPECT_NEAR(a.box.y1, b.box.y1, 0.01);
    for (int k = 0; k < 5; ++k) {
      EXPECT_NEAR(a.landmarks[k].x, b.landmarks[k].x, 0.01);
      EXPECT_NEAR(a.landmarks[k].y, b.landmarks[k].y, 0.01);
    }
  }
}

}  // namespace facebench
