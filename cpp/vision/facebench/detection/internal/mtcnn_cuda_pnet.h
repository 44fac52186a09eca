#pragma once

// P-Net on all levels of the pyramids of all images.

#include <cmath>

#include "facebench/detection/internal/mtcnn_arithmetic.h"
#include "facebench/detection/internal/mtcnn_cuda_bodies.h"
#include "facebench/detection/internal/mtcnn_cuda_nms.h"

namespace facebench {

// Adds 1 and returns what was there.
FACEBENCH_BODY int take_next(int* counter) {
#ifdef __CUDA_ARCH__
  return atomicAdd(counter, 1);
#else
  return (*counter)++;
#endif
}

// One level's part of a layer's planes.
struct DeviceMap {
  int width, height;
  long offset;  // of its first pixel
  long strips;  // of all maps before it
};

// The map that item `i` belongs to, where `first` is the member that counts what lies before.
FACEBENCH_BODY int find_map(const DeviceMap* maps, int count, long DeviceMap::*first, long i) {
  int low = 0, high = count - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (maps[middle].*first <= i)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

// The levels of the pyramids, one pixel a thread.
struct LevelPixels {
  const DeviceImage* images;
  const int* image_of;  // of each level
  const DeviceMap* maps;
  int levels;
  bool opencv_area;
  float* out;
  long channel_stride;

  FACEBENCH_BODY void operator()(long t) const {
    const int level = find_map(maps, levels, &DeviceMap::offset, t);
    const DeviceMap& map = maps[level];
    const long at = t - map.offset;
    const DeviceImage& image = images[image_of[level]];
    const int x = static_cast<int>(at % map.width), y = static_cast<int>(at / map.width);
    float means[3];
    if (opencv_area)
      area_value(image, 0, 0, image.width, image.height, map.width, map.height, x, y, true, means);
    else
      mean_cell(image, 0, 0, image.width, image.height, map.width, map.height, x, y, means);
    for (int c = 0; c < 3; ++c) out[c * channel_stride + t] = means[c];
  }
};

constexpr int kLevelPairs = 4;  // pairs of rows that a thread computes
FACEBENCH_BODY int level_strips(int height) {
  return (height + 2 * kLevelPairs - 1) / (2 * kLevelPairs);
}

// One strip of rows of one block of channels a thread. Threads that read the same values lie near
// each other: kStrips strips of one block of channels, then those of the next.
struct ConvolveLevels {
  static constexpr int kStrips = 128;
  DeviceLayer layer;
  const DeviceMap *in_maps, *out_maps;
  int levels;
  long strips;  // of all maps
  const float* in;
  long in_channel;
  float* out;
  long out_channel;

  FACEBENCH_BODY long threads() const {
    return (strips + kStrips - 1) / kStrips * kStrips * layer.blocks;
  }
  FACEBENCH_BODY void operator()(long t) const {
    const int block = static_cast<int>(t / kStrips % layer.blocks);
    const long strip = t / kStrips / layer.blocks * kStrips + t % kStrips;
    if (strip >= strips) return;
    const int level = find_map(out_maps, levels, &DeviceMap::strips, strip);
    const DeviceMap &from = in_maps[level], &to = out_maps[level];
    const long at = strip - to.strips;
    const int x = static_cast<int>(at % to.width);
    const int y = static_cast<int>(at / to.width) * 2 * kLevelPairs;
    const Planes planes{
        in + from.offset + static_cast<long>(y) * from.width + x, in_channel,  from.width, 1,
        out + to.offset + static_cast<long>(y) * to.width + x,    out_channel, to.width,   1};
    convolve_pairs<kLevelPairs>(layer, block, planes, {layer.inputs, in_channel, 3, 1},
                                shorter(2 * kLevelPairs, to.height - y));
  }
};

// One output pixel of one channel a thread.
struct PoolLevels {
  const DeviceMap *in_maps, *out_maps;
  int levels;
  const float* in;
  long in_channel;
  float* out;
  long out_channel;

  FACEBENCH_BODY void operator()(long t) const {
    const long channel = t / out_channel, pixel = t % out_channel;
    const int level = find_map(out_maps, levels, &DeviceMap::offset, pixel);
    const DeviceMap &from = in_maps[level], &to = out_maps[level];
    const long at = pixel - to.offset;
    const int x = 2 * static_cast<int>(at % to.width), y = 2 * static_cast<int>(at / to.width);
    out[t] =
        largest(in + channel * in_channel + from.offset + static_cast<long>(y) * from.width + x,
                from.width, 1, shorter(2, from.height - y), shorter(2, from.width - x));
  }
};

// P-Net's last layer.
struct Heads {
  const float *weights, *bias;  // [32][5]: the difference of the logits, four corrections
  const float* in;
  long channel_stride;

  FACEBENCH_BODY float difference(long t) const {
    float sum = bias[0];
    for (int c = 0; c < 32; ++c) sum = std::fma(weights[5 * c], in[c * channel_stride + t], sum);
    return sum;
  }
  // As on the processor, not fused.
  FACEBENCH_BODY void correct(long t, float* out) const {
    for (int k = 0; k < 4; ++k) {
      out[k] = bias[1 + k];
      for (int c = 0; c < 32; ++c) out[k] += weights[5 * c + 1 + k] * in[c * channel_stride + t];
    }
  }
};

// Cells whose face scores enough become candidates of their level.
template <class T>
struct TakeCells {
  Heads heads;
  const DeviceMap* maps;
  int levels;
  const double* scales;
  float threshold, least;  // least_difference(threshold)
  bool columns_first;
  Segments<T> out;

  FACEBENCH_BODY void operator()(long t) const {
    const float difference = heads.difference(t);
    if (!(difference >= least)) return;
    const float score = face_probability(0, difference);
    if (!(score >= threshold)) return;
    const int level = find_map(maps, levels, &DeviceMap::offset, t);
    const int slot = take_next(out.counts + level);
    if (slot >= out.capacity) return;
    const DeviceMap& map = maps[level];
    const int x = static_cast<int>((t - map.offset) % map.width);
    const int y = static_cast<int>((t - map.offset) / map.width);
    const T scale = static_cast<T>(scales[level]);
    Candidate<T> c{};
    c.x0 = std::floor(static_cast<T>(2 * x + 1) / scale);
    c.y0 = std::floor(static_cast<T>(2 * y + 1) / scale);
    c.x1 = std::floor(static_cast<T>(2 * x + 12) / scale);
    c.y1 = std::floor(static_cast<T>(2 * y + 12) / scale);
    c.score = score;
    heads.correct(t, c.correction);
    const long at = static_cast<long>(level) * out.capacity + slot;
    out.items[at] = c;
    out.order[at] = columns_first ? x * map.height + y : y * map.width + x;
  }
};

// The only candidate of a level gets the corrections of the cell mirrored left to right. One thread
// a level; candidates were taken columns first.
template <class T>
struct MirrorSingle {
  Heads heads;
  const DeviceMap* maps;
  Segments<T> out;

  FACEBENCH_BODY void operator()(long level) const {
    if (out.counts[level] != 1) return;
    const DeviceMap& map = maps[level];
    const long at = level * out.capacity;
    const int x = map.width - 1 - out.order[at] / map.height, y = out.order[at] % map.height;
    heads.correct(map.offset + static_cast<long>(y) * map.width + x, out.items[at].correction);
  }
};

}  // namespace facebench
