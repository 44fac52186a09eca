#pragma once

// MTCNN as work for thousands of threads: what each of them does. Every struct is a kernel; its
// operator() is the body, for one index, and runs on a device and on the processor alike, so that
// the tests run the same arithmetic and addressing without a device. Nothing here reads an answer
// on the host: counts stay in memory, and what does not fit is counted, not cut off in silence.
//
// Maps are planes: value (channel, y, x) lies at channel * channel_stride + y * row_stride +
// x * pixel_stride. P-Net's planes hold all levels of all images one after the other; those of
// R-Net and O-Net hold `lanes` crops side by side for each pixel, so that neighbouring threads read
// neighbouring addresses.

#include <cmath>

#include "detection/host_device.h"
#include "detection/mtcnn_boxes.h"

namespace facebench {

#define FACEBENCH_BODY FACEBENCH_HOST_DEVICE inline

// Adds 1 and returns what was there.
FACEBENCH_BODY int take_next(int* counter) {
#ifdef __CUDA_ARCH__
  return atomicAdd(counter, 1);
#else
  return (*counter)++;
#endif
}

struct DeviceImage {
  const unsigned char* pixels;
  int width, height;
};

// One level's part of a layer's planes.
struct DeviceMap {
  int width, height;
  long offset;  // of its first pixel
  long strips;  // of all maps before it
};

constexpr int kStrip = 4;      // output rows (or pixels) that a thread computes
constexpr int kChannels = 16;  // output channels that it computes

FACEBENCH_BODY int strips_of(int side) { return (side + kStrip - 1) / kStrip; }

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

// Part [x0, x1) x [y0, y1) of an image; cell (i, j) of columns x rows is the mean of whole pixels,
// as AreaSampler's. Pixels outside of the image are black. Gives (mean - 127.5) / 128 of three
// colours.
FACEBENCH_BODY void mean_cell(const DeviceImage& image, int x0, int y0, int x1, int y1, int columns,
                              int rows, int i, int j, float* out) {
  const long w = x1 - x0, h = y1 - y0;
  const int left = static_cast<int>(i * w / columns);
  const int right = static_cast<int>(((i + 1) * w + columns - 1) / columns);
  const int top = static_cast<int>(j * h / rows);
  const int bottom = static_cast<int>(((j + 1) * h + rows - 1) / rows);
  unsigned sums[3] = {0, 0, 0};
  for (int y = top + y0; y < bottom + y0; ++y) {
    if (y < 0 || y >= image.height) continue;
    for (int x = left + x0; x < right + x0; ++x) {
      if (x < 0 || x >= image.width) continue;
      const unsigned char* p = image.pixels + 3 * (static_cast<long>(y) * image.width + x);
      for (int c = 0; c < 3; ++c) sums[c] += p[c];
    }
  }
  const float factor =
      0.0078125f / static_cast<float>(bottom - top) * (1 / static_cast<float>(right - left));
  for (int c = 0; c < 3; ++c)
    out[c] = std::fma(static_cast<float>(sums[c]), factor, -127.5f * 0.0078125f);
}

// The levels of the pyramids, one pixel a thread.
struct LevelPixels {
  const DeviceImage* images;
  const int* image_of;  // of each level
  const DeviceMap* maps;
  int levels;
  float* out;
  long channel_stride;

  FACEBENCH_BODY void operator()(long t) const {
    const int level = find_map(maps, levels, &DeviceMap::offset, t);
    const DeviceMap& map = maps[level];
    const long at = t - map.offset;
    const DeviceImage& image = images[image_of[level]];
    float means[3];
    mean_cell(image, 0, 0, image.width, image.height, map.width, map.height,
              static_cast<int>(at % map.width), static_cast<int>(at / map.width), means);
    for (int c = 0; c < 3; ++c) out[c * channel_stride + t] = means[c];
  }
};

// A convolution (stride 1, no padding) or a dense layer, and its PReLU.
struct DeviceLayer {
  int kernel, inputs, outputs, blocks;  // blocks of kChannels outputs
  const float* weights;                 // [block][input][y][x][kChannels], 0 beyond the outputs
  const float* bias;                    // [block][kChannels]
  const float* slope;
};

// Read at once.
struct alignas(16) Four {
  float v[4];
};

struct Planes {
  const float* in;
  long in_channel, in_row, in_pixel;
  float* out;
  long out_channel, out_row, out_pixel;
};

// kStrip outputs, `step` rows or pixels apart, `valid` of which exist, of one block of channels.
// `in` and `out` in the planes are those of the first.
FACEBENCH_BODY void convolve_strip(const DeviceLayer& layer, int block, const Planes& p,
                                   long in_step, long out_step, int valid) {
  const int k = layer.kernel;
  const auto* weights = reinterpret_cast<const Four*>(
      layer.weights + static_cast<long>(block) * layer.inputs * k * k * kChannels);
  float sums[kStrip][kChannels];
  for (int s = 0; s < kStrip; ++s)
    for (int o = 0; o < kChannels; ++o) sums[s][o] = layer.bias[block * kChannels + o];
  // What does not exist is computed from the last that does, and not stored.
  long starts[kStrip];
  for (int s = 0; s < kStrip; ++s) starts[s] = (s < valid ? s : valid - 1) * in_step;
  for (int i = 0; i < layer.inputs; ++i) {
    for (int y = 0; y < k; ++y) {
      for (int x = 0; x < k; ++x, weights += kChannels / 4) {
        const float* in = p.in + i * p.in_channel + y * p.in_row + x * p.in_pixel;
        float values[kStrip];
        for (int s = 0; s < kStrip; ++s) values[s] = in[starts[s]];
        for (int o = 0; o < kChannels; o += 4) {
          const Four w = weights[o / 4];
          for (int s = 0; s < kStrip; ++s)
            for (int j = 0; j < 4; ++j)
              sums[s][o + j] = std::fma(w.v[j], values[s], sums[s][o + j]);
        }
      }
    }
  }
  const int first = block * kChannels;
  for (int o = 0; o < kChannels && first + o < layer.outputs; ++o) {
    const float slope = layer.slope[first + o];
    for (int s = 0; s < valid; ++s) {
      const float v = sums[s][o];
      p.out[(first + o) * p.out_channel + s * out_step] = v > 0 ? v : v * slope;
    }
  }
}

// The largest value of a window that moves by two and may be cut by the edge.
FACEBENCH_BODY float largest(const float* in, long row, long pixel, int rows, int columns) {
  float most = in[0];
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) {
      const float v = in[y * row + x * pixel];
      most = v > most ? v : most;
    }
  return most;
}

FACEBENCH_BODY int shorter(int a, int b) { return a < b ? a : b; }

// --- P-Net ---------------------------------------------------------------------------------------

// One strip of rows of one block of channels a thread: blocks * (strips of all maps) threads.
struct ConvolveLevels {
  DeviceLayer layer;
  const DeviceMap *in_maps, *out_maps;
  int levels;
  long strips;
  const float* in;
  long in_channel;
  float* out;
  long out_channel;

  FACEBENCH_BODY void operator()(long t) const {
    const int block = static_cast<int>(t / strips);
    const long strip = t % strips;
    const int level = find_map(out_maps, levels, &DeviceMap::strips, strip);
    const DeviceMap &from = in_maps[level], &to = out_maps[level];
    const long at = strip - to.strips;
    const int x = static_cast<int>(at % to.width);
    const int y = static_cast<int>(at / to.width) * kStrip;
    const Planes planes{
        in + from.offset + static_cast<long>(y) * from.width + x, in_channel,  from.width, 1,
        out + to.offset + static_cast<long>(y) * to.width + x,    out_channel, to.width,   1};
    convolve_strip(layer, block, planes, from.width, to.width, shorter(kStrip, to.height - y));
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

using DeviceCandidate = Candidate<float>;

// Candidates of levels, or of images: `capacity` places each. A count may exceed it; then the rest
// was not stored.
struct Segments {
  int count;
  int capacity;
  int* counts;
  DeviceCandidate* items;
  // Decides among equal scores; below 0: not a candidate.
  int* order;
  // Filled by Rank: candidate r in order of score is items[sorted[r]]; how many there are.
  int* sorted;
  int* valid;
  // Filled by Suppress: indices into the sorted order.
  int* kept;
  int* kept_counts;

  FACEBENCH_BODY int size(int segment) const { return shorter(counts[segment], capacity); }
  FACEBENCH_BODY const DeviceCandidate& kept_item(int segment, int k) const {
    const long base = static_cast<long>(segment) * capacity;
    return items[base + sorted[base + kept[base + k]]];
  }
};

// P-Net's last layer: cells whose face scores enough become candidates of their level.
struct TakeCells {
  const float *weights, *bias;  // [32][6]: two logits, four corrections
  const DeviceMap* maps;
  int levels;
  const float* scales;
  float threshold;
  bool columns_first;
  const float* in;
  long channel_stride;
  Segments out;

  FACEBENCH_BODY void operator()(long t) const {
    float sums[6];
    for (int o = 0; o < 6; ++o) sums[o] = bias[o];
    for (int c = 0; c < 32; ++c)
      for (int o = 0; o < 6; ++o)
        sums[o] = std::fma(weights[6 * c + o], in[c * channel_stride + t], sums[o]);
    const float score = 1 / (1 + std::exp(sums[0] - sums[1]));
    if (!(score >= threshold)) return;
    const int level = find_map(maps, levels, &DeviceMap::offset, t);
    const int slot = take_next(out.counts + level);
    if (slot >= out.capacity) return;
    const DeviceMap& map = maps[level];
    const int x = static_cast<int>((t - map.offset) % map.width);
    const int y = static_cast<int>((t - map.offset) / map.width);
    const float scale = scales[level];
    DeviceCandidate c{};
    c.x0 = std::floor(static_cast<float>(2 * x + 1) / scale);
    c.y0 = std::floor(static_cast<float>(2 * y + 1) / scale);
    c.x1 = std::floor(static_cast<float>(2 * x + 12) / scale);
    c.y1 = std::floor(static_cast<float>(2 * y + 12) / scale);
    c.score = score;
    for (int k = 0; k < 4; ++k) c.correction[k] = sums[2 + k];
    const long at = static_cast<long>(level) * out.capacity + slot;
    out.items[at] = c;
    out.order[at] = columns_first ? x * map.height + y : y * map.width + x;
  }
};

// --- suppression ---------------------------------------------------------------------------------

// Each candidate finds its place in the order of scores by counting those before it.
struct Rank {
  Segments s;
  bool last_of_equal;

  FACEBENCH_BODY void operator()(long t) const {
    const int segment = static_cast<int>(t / s.capacity), i = static_cast<int>(t % s.capacity);
    const long base = static_cast<long>(segment) * s.capacity;
    const int n = s.size(segment);
    if (i == 0 && n == 0) s.valid[segment] = 0;
    if (i >= n) return;
    const float score = s.items[base + i].score;
    const int own = s.order[base + i];
    int before = 0, valid = 0;
    for (int j = 0; j < n; ++j) {
      const int other = s.order[base + j];
      if (other < 0) continue;
      ++valid;
      const float o = s.items[base + j].score;
      before += o > score || (o == score && (last_of_equal ? other > own : other < own));
    }
    if (own >= 0) s.sorted[base + before] = i;
    if (i == 0) s.valid[segment] = valid;
  }
};

struct DeviceNms {
  float limit;
  bool of_smaller, plus_one, last_of_equal;
};

// One block a segment, any number of threads: keeps the best of each heap, best first.
struct Suppress {
  Segments s;
  DeviceNms rule;
  unsigned char* gone;  // as many places as s.items

  template <class Sync>
  FACEBENCH_HOST_DEVICE void operator()(int segment, int thread, int threads,
                                        const Sync& sync) const {
    const long base = static_cast<long>(segment) * s.capacity;
    const int n = s.valid[segment];
    for (int r = thread; r < n; r += threads) gone[base + r] = 0;
    sync();
    int kept = 0;
    for (int r = 0; r < n; ++r) {
      if (gone[base + r]) continue;  // written before the last sync(), so the same for all threads
      const DeviceCandidate& best = s.items[base + s.sorted[base + r]];
      for (int j = r + 1 + thread; j < n; j += threads)
        if (!gone[base + j] && overlaps(best, s.items[base + s.sorted[base + j]]))
          gone[base + j] = 1;
      if (thread == 0) s.kept[base + kept] = r;
      ++kept;
      sync();
    }
    if (thread == 0) s.kept_counts[segment] = kept;
  }

  // As suppress() in mtcnn_boxes.h.
  FACEBENCH_BODY bool overlaps(const DeviceCandidate& a, const DeviceCandidate& b) const {
    const float extra = rule.plus_one ? 1 : 0;
    const float left = a.x0 > b.x0 ? a.x0 : b.x0, right = a.x1 < b.x1 ? a.x1 : b.x1;
    const float top = a.y0 > b.y0 ? a.y0 : b.y0, bottom = a.y1 < b.y1 ? a.y1 : b.y1;
    float w = right - left + extra, h = bottom - top + extra;
    w = w > 0 ? w : 0;
    h = h > 0 ? h : 0;
    const float one = (a.x1 - a.x0 + extra) * (a.y1 - a.y0 + extra);
    const float other = (b.x1 - b.x0 + extra) * (b.y1 - b.y0 + extra);
    const float both = w * h;
    const float whole = rule.of_smaller ? (one < other ? one : other) : one + other - both;
    return both / whole > rule.limit;
  }
};

// What the levels of an image kept, one after the other, become the image's candidates. One thread
// for each place of a level.
struct GatherLevels {
  Segments levels, images;
  const int* image_of;     // of each level
  const int* first_level;  // of each image
  int* overflow;           // of each image: something did not fit

  FACEBENCH_BODY void operator()(long t) const {
    const int level = static_cast<int>(t / levels.capacity);
    const int k = static_cast<int>(t % levels.capacity);
    const int image = image_of[level];
    const int kept = levels.kept_counts[level];
    if (k >= kept && k > 0) return;
    int before = 0;
    for (int l = first_level[image]; l < level; ++l) before += levels.kept_counts[l];
    if (k == 0) {
      if (levels.counts[level] > levels.capacity || before + kept > images.capacity)
        overflow[image] = 1;
      // The last level knows how many there are.
      if (level + 1 == levels.count || image_of[level + 1] != image)
        images.counts[image] = before + kept;
    }
    if (k >= kept || before + k >= images.capacity) return;
    const long at = static_cast<long>(image) * images.capacity + before + k;
    images.items[at] = levels.kept_item(level, k);
    images.order[at] = before + k;
  }
};

// --- crops ---------------------------------------------------------------------------------------

// What a later network looks at. Whole pixels, 1-based and inclusive, inside the image unless black
// is added; empty = nothing to see.
struct DeviceCrop {
  int image, slot;  // of the image's candidates
  int x0, y0, x1, y1;
  bool empty;
};

// Where what each image kept begins, one image after the other: one thread. Images for which there
// is no place are left out, and say so.
struct PlaceKept {
  Segments images;
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
struct CutBoxes {
  Segments from, to;
  const DeviceImage* images;
  const int* first;
  float extra;  // of apply_correction()
  bool round_square, zero_pad;
  DeviceCrop* crops;

  FACEBENCH_BODY void operator()(long t) const {
    const int image = static_cast<int>(t / from.capacity);
    const int k = static_cast<int>(t % from.capacity);
    const int count = first[image + 1] - first[image];  // none where the image was left out
    if (k == 0) to.counts[image] = count;
    if (k >= count) return;
    DeviceCandidate c = from.kept_item(image, k);
    apply_correction(c, extra);
    make_square(c, round_square);
    const long at = static_cast<long>(image) * to.capacity + k;
    to.items[at] = c;
    to.order[at] = -1;

    const int width = images[image].width, height = images[image].height;
    DeviceCrop crop{image, k, 0, 0, 0, 0, true};
    if (c.within(2 * static_cast<float>(width > height ? width : height))) {
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
  float* out;  // [3][side][side][lanes]

  FACEBENCH_BODY void operator()(long t) const {
    const int lane = static_cast<int>(t % part.lanes), pixel = static_cast<int>(t / part.lanes);
    if (!part.has(lane)) return;
    const DeviceCrop& crop = part.crops[part.begin + lane];
    float means[3] = {0, 0, 0};
    if (!crop.empty)
      mean_cell(images[crop.image], crop.x0 - 1, crop.y0 - 1, crop.x1, crop.y1, side, side,
                pixel % side, pixel / side, means);
    for (int c = 0; c < 3; ++c)
      out[(static_cast<long>(c) * side * side + pixel) * part.lanes + lane] = means[c];
  }
};

// One strip of pixels of one block of channels of one crop a thread.
struct ConvolveCrops {
  CropPart part;
  DeviceLayer layer;
  int side;  // of the input; the output's is side - kernel + 1
  const float* in;
  float* out;

  FACEBENCH_BODY long threads() const {
    const int to = side - layer.kernel + 1;
    return static_cast<long>(part.lanes) * strips_of(to) * to * layer.blocks;
  }
  FACEBENCH_BODY void operator()(long t) const {
    const int lane = static_cast<int>(t % part.lanes);
    if (!part.has(lane)) return;
    t /= part.lanes;
    const int to = side - layer.kernel + 1, strips = strips_of(to);
    const int x = static_cast<int>(t % strips) * kStrip;
    t /= strips;
    const int y = static_cast<int>(t % to), block = static_cast<int>(t / to);
    const long n = part.lanes;
    const Planes planes{
        in + (static_cast<long>(y) * side + x) * n + lane, side * side * n, side * n, n,
        out + (static_cast<long>(y) * to + x) * n + lane,  to * to * n,     to * n,   n};
    convolve_strip(layer, block, planes, n, n, shorter(kStrip, to - x));
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
struct TakeScores {
  CropPart part;
  const float* in;  // [outputs][lanes]: two logits, four corrections, ten landmarks
  float threshold;
  bool landmarks;
  float landmark_offset;
  Segments images;

  FACEBENCH_BODY void operator()(long t) const {
    const int lane = static_cast<int>(t);
    if (!part.has(lane)) return;
    const DeviceCrop& crop = part.crops[part.begin + lane];
    if (crop.empty) return;
    const auto value = [&](int o) { return in[static_cast<long>(o) * part.lanes + lane]; };
    const float score = 1 / (1 + std::exp(value(0) - value(1)));
    if (!(score > threshold)) return;
    const long at = static_cast<long>(crop.image) * images.capacity + crop.slot;
    DeviceCandidate& c = images.items[at];
    c.score = score;
    for (int k = 0; k < 4; ++k) c.correction[k] = value(2 + k);
    images.order[at] = crop.slot;
    if (!landmarks) return;
    const float w = c.x1 - c.x0 + 1, h = c.y1 - c.y0 + 1;
    for (int k = 0; k < 5; ++k) {
      c.landmarks[k] = w * value(6 + k) + c.x0 + landmark_offset;
      c.landmarks[5 + k] = h * value(11 + k) + c.y0 + landmark_offset;
    }
    apply_correction(c, 1.f);
  }
};

// What is left, best first, for the host. One thread for each candidate's place.
struct WriteFaces {
  Segments images;
  const int* overflow;
  const int* first;  // as PlaceKept: where each image's faces begin
  float offset;
  DeviceCandidate* faces;
  int* counts;  // -1: something did not fit

  FACEBENCH_BODY void operator()(long t) const {
    const int image = static_cast<int>(t / images.capacity);
    const int k = static_cast<int>(t % images.capacity);
    const int count = first[image + 1] - first[image];
    if (k == 0) counts[image] = overflow[image] ? -1 : count;
    if (k >= count) return;
    DeviceCandidate c = images.kept_item(image, k);
    c.x0 += offset;
    c.y0 += offset;
    c.x1 += offset;
    c.y1 += offset;
    for (float& v : c.landmarks) v += offset;
    faces[first[image] + k] = c;
  }
};

}  // namespace facebench
