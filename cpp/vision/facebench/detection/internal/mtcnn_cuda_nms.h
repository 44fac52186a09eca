#pragma once

// Candidates, and the suppression of those that overlap a better one.

#include "facebench/detection/internal/mtcnn_boxes.h"
#include "facebench/detection/internal/mtcnn_cuda_bodies.h"

namespace facebench {

// Candidates of levels, or of images: `capacity` places each. A count may exceed it; then the rest
// was not stored.
template <class T>
struct Segments {
  int count;
  int capacity;
  int* counts;
  Candidate<T>* items;
  // Decides among equal scores; below 0: not a candidate.
  int* order;
  // Filled by Rank: candidate r in order of score is items[sorted[r]]; how many there are.
  int* sorted;
  int* valid;
  // Filled by Suppress: indices into the sorted order.
  int* kept;
  int* kept_counts;

  FACEBENCH_BODY int size(int segment) const { return shorter(counts[segment], capacity); }
  FACEBENCH_BODY const Candidate<T>& kept_item(int segment, int k) const {
    const long base = static_cast<long>(segment) * capacity;
    return items[base + sorted[base + kept[base + k]]];
  }
};

// Each candidate finds its place in the order of scores by counting those before it.
template <class T>
struct Rank {
  Segments<T> s;
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

template <class T>
struct DeviceNms {
  T limit;
  bool of_smaller, plus_one, last_of_equal;
};

// One block a segment, any number of threads: keeps the best of each heap, best first.
template <class T>
struct Suppress {
  Segments<T> s;
  DeviceNms<T> rule;
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
      const Candidate<T>& best = s.items[base + s.sorted[base + r]];
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
  FACEBENCH_BODY bool overlaps(const Candidate<T>& a, const Candidate<T>& b) const {
    const T extra = rule.plus_one ? 1 : 0;
    const T left = a.x0 > b.x0 ? a.x0 : b.x0, right = a.x1 < b.x1 ? a.x1 : b.x1;
    const T top = a.y0 > b.y0 ? a.y0 : b.y0, bottom = a.y1 < b.y1 ? a.y1 : b.y1;
    T w = right - left + extra, h = bottom - top + extra;
    w = w > 0 ? w : 0;
    h = h > 0 ? h : 0;
    const T one = (a.x1 - a.x0 + extra) * (a.y1 - a.y0 + extra);
    const T other = (b.x1 - b.x0 + extra) * (b.y1 - b.y0 + extra);
    const T both = w * h;
    const T whole = rule.of_smaller ? (one < other ? one : other) : one + other - both;
    return both / whole > rule.limit;
  }
};

// What the levels of an image kept, one after the other, become the image's candidates. One thread
// for each place of a level.
template <class T>
struct GatherLevels {
  Segments<T> levels, images;
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

}  // namespace facebench
