#pragma once

#include "facebench/detection/internal/mtcnn_cascade.h"
#include "facebench/images/area_sampler.h"

namespace facebench {

// Whole pixels, 1-based and inclusive, as all of MTCNN's coordinates.
struct MtcnnWindow {
  int x0, y0, x1, y1;
  bool operator==(const MtcnnWindow&) const = default;
  bool empty() const { return x1 < x0 || y1 < y0; }
};

// What the networks see of one rgb image, as (value - 127.5) / 128.
class MtcnnInputs {
 public:
  // Keeps references. `plain`: OpenCV's area filter is OpenCV itself, crops in double precision.
  MtcnnInputs(const Image& image, const MtcnnRules& rules, bool plain);

  // The rows of the image at another size, in any order, until the next call of level().
  MtcnnNetworks::LevelRows level(int width, int height);
  // The part of a window that has pixels; may be empty.
  MtcnnWindow inside(const MtcnnWindow& window) const;
  // A window as [side][side][3], black where the image ends.
  void crop(const MtcnnWindow& window, int side, float* out);

 private:
  const Image& image_;
  const MtcnnRules& rules_;
  const bool plain_;
  AreaSampler levels_, crops_;
};

}  // namespace facebench
