#pragma once

// R-Net and O-Net on what is cut out around candidates, and the faces that are left.

#include <cmath>

#include "facebench/detection/internal/mtcnn_arithmetic.h"
#include "facebench/detection/internal/mtcnn_boxes.h"
#include "facebench/detection/internal/mtcnn_cuda_bodies.h"
#include "facebench/detection/internal/mtcnn_cuda_nms.h"

namespace facebench {

// What a later network looks at. Whole pixels, 1-based and inclusive, inside the image unless black
// is added; empty = nothing to see.
struct DeviceCrop {
  int image, slot;  // of the image's candidates
  int x0, y0, x1, y1;
  bool empty;
};

// Where what each image kept begins, one image after the other: one thread. Images for which there
// is no place are left out, and say so.
template <class T>
struct PlaceKept {
  Segments<T> images;
  int most;
  int* overflow;
  int* first;  // [images + 1]

  FACEBENCH_BODY void operator()(long) const {
    int total = 0;
    for (int i = 0; i < images.count; ++i) {
      first[i] = total;
      if (overflow[i]) continue;
      if (images.kept_counts[i] > most - total)
        overflow[i] = 1;
      else
        total += images.kept_counts[i];
    }
    first[images.count] = total;
  }
};

// The boxes that an image kept, corrected and made square, become its next candidates and crops.
// One thread for each place.
template <class T>
struct CutBoxes {
  Segments<T> from, to;
  const DeviceImage* images;
  const int* first;
  T extra;  // of apply_correction()
  bool round_square, zero_pad;
  DeviceCrop* crops;

  FACEBENCH_BODY void operator()(long t) const {
    const int image = static_cast<int>(t / from.capacity);
    const int k = static_cast<int>(t % from.capacity);
    const int count = first[image + 1] - first[image];  // none where the image was left out
    if (k == 0) to.counts[image] = count;
    if (k >= count) return;
    Candidate<T> c = from.kept_item(image, k);
    apply_correction(c, extra);
    make_square(c, round_square);
    const long at = static_cast<long>(image) * to.capacity + k;
    to.items[at] = c;
    to.order[at] = -1;

    const int width = images[image].width, height = images[image].height;
    DeviceCrop crop{image, k, 0, 0, 0, 0, true};
    if (c.within(2 * static_cast<T>(width > height ? width : height))) {
      crop.x0 = static_cast<int>(c.x0);
      crop.y0 = static_cast<int>(c.y0);
      crop.x1 = static_cast<int>(c.x1);
      crop.y1 = static_cast<int>(c.y1);
      if (!zero_pad) {
        crop.x0 = crop.x0 > 1 ? crop.x0 : 1;
        crop.y0 = crop.y0 > 1 ? crop.y0 : 1;
        crop.x1 = shorter(crop.x1, width);
        crop.y1 = shorter(crop.y1, height);
      }
      crop.empty = crop.x1 < crop.x0 || crop.y1 < crop.y0;
    }
    crops[first[image] + k] = crop;
  }
};

// A part of the crops, `lanes` of them, that is in memory at a time.
struct CropPart {
  const DeviceCrop* crops;
  const int* total;
  int begin, lanes;

  FACEBENCH_BODY bool has(int lane) const { return begin + lane < *total; }
};

// The pixels of crops, one pixel of one crop a thread.
struct CropPixels {
  CropPart part;
  const DeviceImage* images;
  int side;
  bool opencv_area;
  float* out;  // [3][side][side][lanes]

  FACEBENCH_BODY void operator()(long t) const {
    const int lane = static_cast<int>(t % part.lanes), pixel = static_cast<int>(t / part.lanes);
    if (!part.has(lane)) return;
    const DeviceCrop& crop = part.crops[part.begin + lane];
    float means[3] = {0, 0, 0};
    const int x = pixel % side, y = pixel / side;
    if (!crop.empty && opencv_area)
      area_value(images[crop.image], crop.x0 - 1, crop.y0 - 1, crop.x1, crop.y1, side, side, x, y,
                 false, means);
    else if (!crop.empty)
      mean_cell(images[crop.image], crop.x0 - 1, crop.y0 - 1, crop.x1, crop.y1, side, side, x, y,
                means);
    for (int c = 0; c < 3; ++c)
      out[(static_cast<long>(c) * side * side + pixel) * part.lanes + lane] = means[c];
  }
};

// Part of a column (kSize pairs of rows) or of a row (kSize pixels) of one block of channels of one
// crop a thread. Threads that read the same values lie near each other.
template <bool kByPairs, int kSize>
struct ConvolveCrops {
  CropPart part;
  DeviceLayer layer;
  int side;  // of the input; the output's is side - kernel + 1
  const float* in;
  float* out;

  static constexpr int kStrip = kByPairs ? 2 * kSize : kSize;
  FACEBENCH_BODY int to() const { return side - layer.kernel + 1; }
  FACEBENCH_BODY int strips() const { return (to() + kStrip - 1) / kStrip; }
  FACEBENCH_BODY long threads() const {
    return static_cast<long>(part.lanes) * strips() * to() * layer.blocks;
  }
  FACEBENCH_BODY void operator()(long t) const {
    const int lane = static_cast<int>(t % part.lanes);
    if (!part.has(lane)) return;
    t /= part.lanes;
    const int block = static_cast<int>(t % layer.blocks);
    t /= layer.blocks;
    const int begin = static_cast<int>(t / to()) * kStrip, other = static_cast<int>(t % to());
    const int x = kByPairs ? other : begin, y = kByPairs ? begin : other;
    const long n = part.lanes, inside = static_cast<long>(side) * side * n;
    const Planes planes{
        in + (static_cast<long>(y) * side + x) * n + lane,  inside,          side * n, n,
        out + (static_cast<long>(y) * to() + x) * n + lane, to() * to() * n, to() * n, n};
    const int valid = shorter(kStrip, to() - begin);
    if constexpr (kByPairs)
      convolve_pairs<kSize>(layer, block, planes, {3, n, layer.inputs, inside}, valid);
    else
      convolve_row<kSize>(layer, block, planes, valid);
  }
};

// One output pixel of one channel of one crop a thread.
struct PoolCrops {
  CropPart part;
  int side, to, window;
  const float* in;
  float* out;

  FACEBENCH_BODY void operator()(long t) const {
    const int lane = static_cast<int>(t % part.lanes);
    if (!part.has(lane)) return;
    const long n = part.lanes, at = t / n;
    const int x = 2 * static_cast<int>(at % to), y = 2 * static_cast<int>(at / to % to);
    const long channel = at / to / to;
    out[t] = largest(in + ((channel * side + y) * side + x) * n + lane, side * n, n,
                     shorter(window, side - y), shorter(window, side - x));
  }
};

// The answers of R-Net (landmarks 0) and O-Net: a crop whose score passes is a candidate again. One
// thread a crop.
template <class T>
struct TakeScores {
  CropPart part;
  const float* in;  // [outputs][lanes]: two logits, four corrections, ten landmarks
  float threshold;
  bool landmarks;
  T landmark_offset;
  Segments<T> images;

  FACEBENCH_BODY void operator()(long t) const {
    const int lane = static_cast<int>(t);
    if (!part.has(lane)) return;
    const DeviceCrop& crop = part.crops[part.begin + lane];
    if (crop.empty) return;
    const auto value = [&](int o) { return in[static_cast<long>(o) * part.lanes + lane]; };
    const float score = face_probability(value(0), value(1));
    if (!(score > threshold)) return;
    const long at = static_cast<long>(crop.image) * images.capacity + crop.slot;
    Candidate<T>& c = images.items[at];
    c.score = score;
    for (int k = 0; k < 4; ++k) c.correction[k] = value(2 + k);
    images.order[at] = crop.slot;
    if (!landmarks) return;
    const T w = c.x1 - c.x0 + 1, h = c.y1 - c.y0 + 1;
    for (int k = 0; k < 5; ++k) {
      const T x = static_cast<T>(value(6 + k)), y = static_cast<T>(value(11 + k));
      c.landmarks[k] = static_cast<float>(w * x + c.x0 + landmark_offset);
      c.landmarks[5 + k] = static_cast<float>(h * y + c.y0 + landmark_offset);
    }
    apply_correction(c, T{1});
  }
};

// What is left, best first, for the host. One thread for each candidate's place.
template <class T>
struct WriteFaces {
  Segments<T> images;
  const int* overflow;
  const int* first;  // as PlaceKept: where each image's faces begin
  T offset;
  Candidate<T>* faces;
  int* counts;  // -1: something did not fit

  FACEBENCH_BODY void operator()(long t) const {
    const int image = static_cast<int>(t / images.capacity);
    const int k = static_cast<int>(t % images.capacity);
    const int count = first[image + 1] - first[image];
    if (k == 0) counts[image] = overflow[image] ? -1 : count;
    if (k >= count) return;
    Candidate<T> c = images.kept_item(image, k);
    c.x0 += offset;
    c.y0 += offset;
    c.x1 += offset;
    c.y1 += offset;
    for (float& v : c.landmarks) v += static_cast<float>(offset);
    faces[first[image] + k] = c;
  }
};

}  // namespace facebench
