#pragma once

// MTCNN on a device: the order of the kernels (see mtcnn_cuda_bodies.h). Backend is the device, or
// the processor in tests; it has
//   void* allocate(size_t bytes);  void release(void*);
//   void upload(void* to, const void* from, size_t bytes);  void download(...);  void clear(...);
//   void each(long n, const F& body);         // body(i) for i < n, in any order
//   void blocks(int n, const F& body);        // body(block, thread, threads, sync)
// Work is done in the order of the calls; download() waits for it.

#include <algorithm>
#include <cstddef>
#include <list>
#include <utility>
#include <vector>

#include "facebench/detection/internal/mtcnn_arithmetic.h"
#include "facebench/detection/internal/mtcnn_cuda.h"
#include "facebench/detection/internal/mtcnn_cuda_crops.h"
#include "facebench/detection/internal/mtcnn_cuda_nms.h"
#include "facebench/detection/internal/mtcnn_cuda_pnet.h"
#include "facebench/detection/internal/mtcnn_pyramid.h"

namespace facebench {

// The sizes that memory is reserved for. An image with more candidates gives -1.
struct PipelineSizes {
  int level_candidates = 4096;  // of one level
  int image_candidates = 4096;  // of one image, after the suppression within its levels
  int rnet_crops = 65536, onet_crops = 8192;  // of all images of a batch
  int rnet_lanes = 4096, onet_lanes = 1024;   // of them in memory at a time
  // Of the pyramids of a batch, and of the pyramid of one image.
  long batch_pixels = 48'000'000, image_pixels = 200'000'000;
  int batch_images = 256;
};

// Memory that grows and is never cleared.
template <class Backend>
class DeviceArray {
 public:
  explicit DeviceArray(Backend& backend) : backend_(backend) {}
  ~DeviceArray() { backend_.release(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  template <class T>
  T* of(std::size_t count) {
    if (count * sizeof(T) > bytes_) {
      backend_.release(data_);
      data_ = nullptr;
      bytes_ = 0;
      data_ = backend_.allocate(count * sizeof(T));
      bytes_ = count * sizeof(T);
    }
    return static_cast<T*>(data_);
  }
  template <class T>
  T* of(const std::vector<T>& values) {
    T* const data = of<T>(std::max<std::size_t>(values.size(), 1));
    if (!values.empty()) backend_.upload(data, values.data(), values.size() * sizeof(T));
    return data;
  }

 private:
  Backend& backend_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Box coordinates have the precision T.
template <class Backend, class T>
class MtcnnPipeline {
 public:
  MtcnnPipeline(Backend& backend, const facebench_mtcnn_rules& rules,
                const facebench_mtcnn_layer* layers, const PipelineSizes& sizes = {})
      : b_(backend), rules_(rules), sizes_(sizes) {
    for (int i = 0; i < facebench_mtcnn_layers; ++i) {
      weights_.emplace_back(backend);
      layers_.push_back(i == 3                                  ? heads(layers[i])
                        : layers[i].kernel == 3 && !is_dense(i) ? prepare_pairs(layers[i], i < 3)
                                                                : prepare(layers[i]));
    }
  }

  // Faces of all images, one after the other; counts[i] = -1: did not fit, and has none there.
  // `faces` has room for count * facebench_mtcnn_most_faces.
  void detect(const facebench_mtcnn_image* images, int count, facebench_mtcnn_face* faces,
              int* counts) {
    for (int first = 0; first < count;) {
      if (pyramid_pixels(images[first]) > sizes_.image_pixels) {
        counts[first++] = -1;
        continue;
      }
      long pixels = 0;
      int n = 0;
      for (; first + n < count && n < sizes_.batch_images; ++n) {
        const long more = pyramid_pixels(images[first + n]);
        if (more > sizes_.image_pixels || (n > 0 && pixels + more > sizes_.batch_pixels)) break;
        pixels += more;
      }
      faces = batch(images + first, n, faces, counts + first);
      first += n;
    }
  }

 private:
  using Array = DeviceArray<Backend>;

  // Of R-Net and O-Net the last two layers: one value of the output sees the whole map.
  static bool is_dense(int layer) { return layer == 7 || layer == 8 || layer >= 13; }

  // Weights in blocks of `channels` outputs, then bias and slope; value(i, o) is weight i of
  // `cells` of an output.
  template <class F>
  DeviceLayer pack(const facebench_mtcnn_layer& layer, bool pairs, int channels, std::size_t cells,
                   const F& value) {
    const int blocks = (layer.outputs + channels - 1) / channels;
    const std::size_t block = cells * channels;
    const std::size_t padded = static_cast<std::size_t>(blocks) * channels;
    std::vector<float> values(blocks * block + 2 * padded, 0.f);
    for (int o = 0; o < layer.outputs; ++o) {
      for (std::size_t i = 0; i < cells; ++i)
        values[o / channels * block + i * channels + o % channels] = value(i, o);
      values[blocks * block + o] = layer.bias[o];
      values[blocks * block + padded + o] = layer.slope[o];
    }
    const float* data = weights_.back().of(values);
    const float* bias = data + blocks * block;
    return {layer.kernel, layer.inputs, layer.outputs, pairs,        channels,
            blocks,       data,         bias,          bias + padded};
  }

  DeviceLayer prepare(const facebench_mtcnn_layer& layer) {
    return pack(layer, false, kDirectChannels,
                static_cast<std::size_t>(layer.kernel) * layer.kernel * layer.inputs,
                [&](std::size_t i, int o) { return layer.weights[i * layer.outputs + o]; });
  }

  // Sums run over x for each input, or over the inputs for each x.
  DeviceLayer prepare_pairs(const facebench_mtcnn_layer& layer, bool inputs_first) {
    const std::size_t n = static_cast<std::size_t>(layer.inputs);
    return pack(layer, true, kPairChannels, 12 * n, [&](std::size_t i, int o) {
      const std::size_t part = i / (6 * n) * 2 + i % 2, at = i / 2 % (3 * n);
      const std::size_t x = inputs_first ? at % 3 : at / n, input = inputs_first ? at / 3 : at % n;
      const float* g = layer.weights + (x * n + input) * layer.outputs + o;
      const std::size_t row = 3 * n * layer.outputs;
      return pair_weight(static_cast<int>(part), g[0], g[row], g[2 * row]);
    });
  }

  // P-Net's last layer: [32][5] and the bias, as Heads has them.
  DeviceLayer heads(const facebench_mtcnn_layer& layer) {
    std::vector<float> values;
    for (const float* from : {layer.weights, layer.bias})
      for (int i = 0; i < (from == layer.bias ? 1 : layer.inputs); ++i, from += layer.outputs) {
        values.push_back(from[1] - from[0]);
        values.insert(values.end(), from + 2, from + 6);
      }
    const float* data = weights_.back().of(values);
    return {1, layer.inputs, 5, false, 5, 1, data, data + 5 * layer.inputs, nullptr};
  }

  // --- the plan of a batch ---

  enum { kLevel, kConv1, kPool1, kConv2, kConv3, kMaps };  // the maps of a level in P-Net
  struct Plan {
    std::vector<double> scales;
    std::vector<int> image_of, first_level;
    std::vector<DeviceMap> maps[kMaps];
    long pixels[kMaps] = {}, strips[kMaps] = {};
    std::vector<DeviceImage> images;

    void add(int map, int width, int height) {
      maps[map].push_back({width, height, pixels[map], strips[map]});
      pixels[map] += static_cast<long>(width) * height;
      strips[map] += static_cast<long>(width) * level_strips(height);
    }
    int levels() const { return static_cast<int>(scales.size()); }
  };

  std::vector<MtcnnLevel> levels_of(const facebench_mtcnn_image& image) const {
    return mtcnn_levels({rules_.min_face, rules_.max_face, rules_.factor, rules_.power_scales != 0,
                         rules_.ceil_size != 0},
                        image.width, image.height);
  }

  long pyramid_pixels(const facebench_mtcnn_image& image) const {
    long pixels = 0;
    for (const MtcnnLevel& level : levels_of(image))
      pixels += static_cast<long>(level.width) * level.height;
    return pixels;
  }

  Plan plan(const facebench_mtcnn_image* images, int count) {
    Plan p;
    std::size_t bytes = 0;
    for (int i = 0; i < count; ++i)
      bytes += 3 * static_cast<std::size_t>(images[i].width) * images[i].height;
    auto* pixels = pixels_.template of<unsigned char>(bytes);
    for (int i = 0; i < count; ++i) {
      const int width = images[i].width, height = images[i].height;
      const std::size_t size = 3 * static_cast<std::size_t>(width) * height;
      b_.upload(pixels, images[i].pixels, size);
      p.images.push_back({pixels, width, height});
      pixels += size;
      p.first_level.push_back(p.levels());
      for (const MtcnnLevel& level : levels_of(images[i])) {
        p.scales.push_back(level.scale);
        p.image_of.push_back(i);
        int w = level.width, h = level.height;
        p.add(kLevel, w, h);
        p.add(kConv1, w - 2, h - 2);
        w = (w - 1) / 2, h = (h - 1) / 2;
        p.add(kPool1, w, h);
        p.add(kConv2, w - 2, h - 2);
        p.add(kConv3, w - 4, h - 4);
      }
    }
    return p;
  }

  // Places for candidates, one after the other in one array.
  Segments<T> segments(Array& memory, int count, int capacity) {
    const std::size_t n = static_cast<std::size_t>(count) * capacity;
    const std::size_t size = sizeof(Candidate<T>) / sizeof(int);
    int* at = memory.template of<int>(n * (size + 3) + 3 * static_cast<std::size_t>(count));
    Segments<T> s{};
    s.count = count;
    s.capacity = capacity;
    s.items = reinterpret_cast<Candidate<T>*>(at);
    at += n * size;
    for (int** part : {&s.order, &s.sorted, &s.kept}) {
      *part = at;
      at += n;
    }
    for (int** part : {&s.counts, &s.valid, &s.kept_counts}) {
      *part = at;
      at += count;
    }
    b_.clear(s.counts, sizeof(int) * static_cast<std::size_t>(count));
    return s;
  }

  void suppress(const Segments<T>& s, const facebench_mtcnn_nms& rule) {
    const bool last = rule.last_of_equal != 0;
    b_.each(static_cast<long>(s.count) * s.capacity, Rank<T>{s, last});
    auto* gone = gone_.template of<unsigned char>(static_cast<std::size_t>(s.count) * s.capacity);
    b_.blocks(
        s.count,
        Suppress<T>{
            s, {static_cast<T>(rule.limit), rule.of_smaller != 0, rule.plus_one != 0, last}, gone});
  }

  // --- the stages ---

  // Returns the place behind the last face.
  facebench_mtcnn_face* batch(const facebench_mtcnn_image* images, int count,
                              facebench_mtcnn_face* faces, int* counts) {
    const Plan p = plan(images, count);
    if (p.levels() == 0) {
      std::fill(counts, counts + count, 0);
      return faces;
    }
    const DeviceImage* device_images = images_.of(p.images);
    const int* image_of = image_of_.of(p.image_of);
    const int* first_level = first_level_.of(p.first_level);
    int* overflow = overflow_.template of<int>(count);
    b_.clear(overflow, sizeof(int) * static_cast<std::size_t>(count));

    const Segments<T> levels = segments(level_candidates_, p.levels(), sizes_.level_candidates);
    propose(p, device_images, image_of, levels);
    suppress(levels, rules_.nms[0]);
    const Segments<T> one = segments(one_, count, sizes_.image_candidates);
    const Segments<T> two = segments(two_, count, sizes_.image_candidates);
    b_.each(static_cast<long>(levels.count) * levels.capacity,
            GatherLevels<T>{levels, one, image_of, first_level, overflow});
    suppress(one, rules_.nms[1]);

    int* first = first_.template of<int>(count + 1);
    look(one, two, device_images, 0, overflow, first, true);
    suppress(two, rules_.nms[2]);
    look(two, one, device_images, 1, overflow, first, false);
    suppress(one, rules_.nms[3]);
    return write(one, overflow, first, count, faces, counts);
  }

  void propose(const Plan& p, const DeviceImage* images, const int* image_of,
               const Segments<T>& levels) {
    const DeviceMap* maps[kMaps];
    for (int m = 0; m < kMaps; ++m) maps[m] = maps_[m].of(p.maps[m]);
    float* values[kMaps];
    const int channels[kMaps] = {3, 10, 10, 16, 32};
    // Two arrays in turns hold all maps.
    std::size_t most[2] = {0, 0};
    for (int m = 0; m < kMaps; ++m)
      most[m % 2] = std::max(most[m % 2], static_cast<std::size_t>(channels[m]) * p.pixels[m]);
    for (int m = 0; m < kMaps; ++m) values[m] = values_[m % 2].template of<float>(most[m % 2]);

    b_.each(p.pixels[kLevel],
            LevelPixels{images, image_of, maps[kLevel], p.levels(), rules_.opencv_area != 0,
                        values[kLevel], p.pixels[kLevel]});
    const auto convolve = [&](int layer, int from, int to) {
      const ConvolveLevels body{layers_[layer], maps[from],   maps[to],
                                p.levels(),     p.strips[to], values[from],
                                p.pixels[from], values[to],   p.pixels[to]};
      b_.each(body.threads(), body);
    };
    convolve(0, kLevel, kConv1);
    b_.each(10 * p.pixels[kPool1],
            PoolLevels{maps[kConv1], maps[kPool1], p.levels(), values[kConv1], p.pixels[kConv1],
                       values[kPool1], p.pixels[kPool1]});
    convolve(1, kPool1, kConv2);
    convolve(2, kConv2, kConv3);
    const Heads heads{layers_[3].weights, layers_[3].bias, values[kConv3], p.pixels[kConv3]};
    b_.each(
        p.pixels[kConv3],
        TakeCells<T>{heads, maps[kConv3], p.levels(), scales_.of(p.scales), rules_.thresholds[0],
                     least_difference(rules_.thresholds[0]), rules_.columns_first != 0, levels});
    if (rules_.mirror_single != 0)
      b_.each(p.levels(), MirrorSingle<T>{heads, maps[kConv3], levels});
  }

  // The boxes that `from` kept, through R-Net or O-Net, become the candidates of `to`.
  void look(const Segments<T>& from, const Segments<T>& to, const DeviceImage* images, T extra,
            int* overflow, int* first, bool rnet) {
    const int most = rnet ? sizes_.rnet_crops : sizes_.onet_crops;
    const int lanes = rnet ? sizes_.rnet_lanes : sizes_.onet_lanes;
    // No more crops can come than there are places for candidates.
    const long possible = std::min<long>(most, static_cast<long>(from.count) * from.capacity);
    auto* crops = crops_.template of<DeviceCrop>(static_cast<std::size_t>(possible));
    b_.each(1, PlaceKept<T>{from, most, overflow, first});
    b_.each(static_cast<long>(from.count) * from.capacity,
            CutBoxes<T>{from, to, images, first, extra, rules_.round_square != 0,
                        rules_.zero_pad != 0, crops});
    for (long begin = 0; begin < possible; begin += lanes) {
      const CropPart part{crops, first + from.count, static_cast<int>(begin), lanes};
      const float* answers = rnet ? run_rnet(part, images) : run_onet(part, images);
      b_.each(lanes, TakeScores<T>{part, answers, rules_.thresholds[rnet ? 1 : 2], !rnet,
                                   static_cast<T>(rules_.landmark_offset), to});
    }
  }

  // The layers of one network on one part of the crops; maps lie in two arrays in turns.
  class Layers {
   public:
    Layers(MtcnnPipeline& pipeline, const CropPart& part, std::size_t largest)
        : p_(pipeline), part_(part) {
      for (int i = 0; i < 2; ++i)
        values_[i] =
            p_.values_[i].template of<float>(largest * static_cast<std::size_t>(part.lanes));
    }
    void crop(const DeviceImage* images, int side) {
      side_ = side;
      p_.b_.each(static_cast<long>(side) * side * part_.lanes,
                 CropPixels{part_, images, side, p_.rules_.opencv_area != 0, values_[0]});
    }
    void convolve(int layer) {
      const DeviceLayer& l = p_.layers_[layer];
      const int to = side_ - l.kernel + 1;
      if (l.pairs && (to + 9) / 10 * 10 < (to + 7) / 8 * 8)  // fewer rows that nobody needs
        run<true, 5>(l);
      else if (l.pairs)
        run<true, 4>(l);
      else if (to == 1)
        run<false, 1>(l);
      else
        run<false, 3>(l);
      side_ = to;
      channels_ = l.outputs;
      std::swap(values_[0], values_[1]);
    }
    void pool(int window) {
      const int to = (side_ - window + 1) / 2 + 1;
      p_.b_.each(static_cast<long>(channels_) * to * to * part_.lanes,
                 PoolCrops{part_, side_, to, window, values_[0], values_[1]});
      side_ = to;
      std::swap(values_[0], values_[1]);
    }
    const float* values() const { return values_[0]; }

   private:
    template <bool kByPairs, int kSize>
    void run(const DeviceLayer& layer) {
      const ConvolveCrops<kByPairs, kSize> body{part_, layer, side_, values_[0], values_[1]};
      p_.b_.each(body.threads(), body);
    }

    MtcnnPipeline& p_;
    const CropPart part_;
    float* values_[2];
    int side_ = 0, channels_ = 3;
  };

  const float* run_rnet(const CropPart& part, const DeviceImage* images) {
    Layers net(*this, part, 28 * 22 * 22);
    net.crop(images, 24);
    net.convolve(4);
    net.pool(3);
    net.convolve(5);
    net.pool(3);
    net.convolve(6);
    net.convolve(7);
    net.convolve(8);
    return net.values();
  }

  const float* run_onet(const CropPart& part, const DeviceImage* images) {
    Layers net(*this, part, 32 * 46 * 46);
    net.crop(images, 48);
    net.convolve(9);
    net.pool(3);
    net.convolve(10);
    net.pool(3);
    net.convolve(11);
    net.pool(2);
    net.convolve(12);
    net.convolve(13);
    net.convolve(14);
    return net.values();
  }

  facebench_mtcnn_face* write(const Segments<T>& s, int* overflow, int* first, int count,
                              facebench_mtcnn_face* faces, int* counts) {
    const int most = count * facebench_mtcnn_most_faces;
    auto* found = faces_.template of<Candidate<T>>(static_cast<std::size_t>(most));
    int* numbers = counts_.template of<int>(count);
    b_.each(1, PlaceKept<T>{s, most, overflow, first});
    b_.each(static_cast<long>(s.count) * s.capacity,
            WriteFaces<T>{s, overflow, first, static_cast<T>(rules_.box_offset), found, numbers});
    b_.download(counts, numbers, sizeof(int) * static_cast<std::size_t>(count));
    std::size_t total = 0;
    for (int i = 0; i < count; ++i) total += static_cast<std::size_t>(std::max(counts[i], 0));
    std::vector<Candidate<T>> rows(total);
    if (total > 0) b_.download(rows.data(), found, total * sizeof rows[0]);
    for (const Candidate<T>& c : rows) {
      *faces = {{static_cast<float>(c.x0), static_cast<float>(c.y0), static_cast<float>(c.x1),
                 static_cast<float>(c.y1)},
                c.score,
                {}};
      std::copy_n(c.landmarks, 10, faces->landmarks);
      ++faces;
    }
    return faces;
  }

  Backend& b_;
  const facebench_mtcnn_rules rules_;
  const PipelineSizes sizes_;
  std::list<Array> weights_;
  std::vector<DeviceLayer> layers_;
  Array pixels_{b_}, images_{b_}, image_of_{b_}, first_level_{b_}, scales_{b_}, overflow_{b_};
  Array maps_[kMaps] = {Array(b_), Array(b_), Array(b_), Array(b_), Array(b_)};
  Array values_[2] = {Array(b_), Array(b_)};
  Array level_candidates_{b_}, one_{b_}, two_{b_}, gone_{b_}, crops_{b_}, first_{b_};
  Array faces_{b_}, counts_{b_};
};

}  // namespace facebench
