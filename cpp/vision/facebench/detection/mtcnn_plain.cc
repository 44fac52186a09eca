// The reference of the fast path: MTCNN's networks as their definition reads.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "facebench/detection/internal/mtcnn_arithmetic.h"
#include "facebench/detection/internal/mtcnn_networks.h"

namespace facebench {
namespace {

// Values [y][x][channel].
struct Map {
  int height, width, channels;
  std::vector<float> values;

  Map(int h, int w, int c)
      : height(h), width(w), channels(c), values(static_cast<std::size_t>(h) * w * c) {}
  float* at(int y, int x) {
    return values.data() + (static_cast<std::size_t>(y) * width + x) * channels;
  }
  const float* at(int y, int x) const { return const_cast<Map*>(this)->at(y, x); }
};

// A layer and its PReLU at every position where its window fits.
Map apply(const MtcnnLayer& layer, const Map& in) {
  const int k = layer.kernel;
  Map out(in.height - k + 1, in.width - k + 1, layer.outputs);
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      float* sums = out.at(y, x);
      std::copy(layer.bias.begin(), layer.bias.end(), sums);
      const float* weights = layer.weights.data();
      for (int dy = 0; dy < k; ++dy)
        for (int dx = 0; dx < k; ++dx)
          for (int i = 0; i < layer.inputs; ++i, weights += layer.outputs)
            for (int o = 0; o < layer.outputs; ++o)
              sums[o] += weights[o] * in.at(y + dy, x + dx)[i];
      for (int o = 0; o < layer.outputs; ++o)
        if (sums[o] < 0) sums[o] *= layer.slope[o];
    }
  }
  return out;
}

// Largest values of windows that move by two; the last may be cut by the edge.
Map max_pool(const Map& in, int window) {
  Map out((in.height - window + 1) / 2 + 1, (in.width - window + 1) / 2 + 1, in.channels);
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      float* most = out.at(y, x);
      std::copy_n(in.at(2 * y, 2 * x), in.channels, most);
      for (int dy = 0; dy < window && 2 * y + dy < in.height; ++dy)
        for (int dx = 0; dx < window && 2 * x + dx < in.width; ++dx)
          for (int c = 0; c < in.channels; ++c)
            most[c] = std::max(most[c], in.at(2 * y + dy, 2 * x + dx)[c]);
    }
  }
  return out;
}

class PlainNetworks final : public MtcnnNetworks {
 public:
  explicit PlainNetworks(std::shared_ptr<const MtcnnWeights> weights) : w_(std::move(weights)) {}

  std::vector<MtcnnCell> pnet(const LevelRows& rows, int width, int height,
                              float threshold) override {
    Map level(height, width, 3);
    std::vector<float> planes(3 * static_cast<std::size_t>(width));
    for (int y = 0; y < height; ++y) {
      rows(y, planes.data(), width);
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < 3; ++c)
          level.at(y, x)[c] = planes[static_cast<std::size_t>(c) * width + x];
    }
    const auto& p = w_->p;
    const Map out = apply(p[3], apply(p[2], apply(p[1], max_pool(apply(p[0], level), 2))));
    std::vector<MtcnnCell> cells;
    for (int y = 0; y < out.height; ++y) {
      for (int x = 0; x < out.width; ++x) {
        const float* answer = out.at(y, x);
        MtcnnCell cell{x, y, face_probability(answer[0], answer[1]), {}};
        if (!(cell.score >= threshold)) continue;
        std::copy_n(answer + 2, 4, cell.correction);
        cells.push_back(cell);
      }
    }
    return cells;
  }

  void rnet(int count, const Crops& crops, float* probability, float* correction) override {
    const auto& r = w_->r;
    Map crop(24, 24, 3);
    for (int i = 0; i < count; ++i) {
      crops(i, crop.values.data());
      const Map features = apply(r[2], max_pool(apply(r[1], max_pool(apply(r[0], crop), 3)), 3));
      const Map out = apply(r[4], apply(r[3], features));
      probability[i] = face_probability(out.at(0, 0)[0], out.at(0, 0)[1]);
      std::copy_n(out.at(0, 0) + 2, 4, correction + 4 * i);
    }
  }

  void onet(int count, const Crops& crops, float* probability, float* correction,
            float* landmarks) override {
    const auto& o = w_->o;
    Map crop(48, 48, 3);
    for (int i = 0; i < count; ++i) {
      crops(i, crop.values.data());
      const Map third =
          max_pool(apply(o[2], max_pool(apply(o[1], max_pool(apply(o[0], crop), 3)), 3)), 2);
      const Map out = apply(o[5], apply(o[4], apply(o[3], third)));
      probability[i] = face_probability(out.at(0, 0)[0], out.at(0, 0)[1]);
      std::copy_n(out.at(0, 0) + 2, 4, correction + 4 * i);
      std::copy_n(out.at(0, 0) + 6, 10, landmarks + 10 * i);
    }
  }

 private:
  std::shared_ptr<const MtcnnWeights> w_;
};

}  // namespace

MtcnnNetworksFactory plain_mtcnn(const MtcnnWeights& weights) {
  return [w = std::make_shared<const MtcnnWeights>(weights)] {
    return std::make_unique<PlainNetworks>(w);
  };
}

}  // namespace facebench
