// MTCNN's networks on kernels for the processor's instruction set: P-Net in one pass over the rows
// of a level, two at a time, of which only those that are still needed are kept; R-Net and O-Net
// crop by crop, so that intermediate values stay in the nearest cache.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "facebench/core/internal/kernel_choice.h"
#include "facebench/detection/internal/mtcnn_arithmetic.h"
#include "facebench/detection/internal/mtcnn_kernels.h"
#include "facebench/detection/internal/mtcnn_networks.h"

namespace facebench {
namespace {

const MtcnnKernels& kernels_for(Isa isa) { return FACEBENCH_KERNELS(isa, kMtcnnKernels); }

// A layer in kernel layout, and its memory.
struct ChannelLayer {
  std::vector<float> weights, bias, slope;
  ConvLayer view;

  // A dense layer's map is one long window.
  ChannelLayer(const MtcnnLayer& layer, bool dense) {
    const int window = layer.kernel * layer.kernel * layer.inputs;
    const int padded = (layer.outputs + 15) / 16 * 16;
    if (layer.kernel == 3 && !dense) {
      const int run = 3 * layer.inputs;
      weights.assign(static_cast<std::size_t>(4 * run) * padded, 0);
      for (int o = 0; o < layer.outputs; ++o)
        for (int part = 0; part < 4; ++part)
          for (int i = 0; i < run; ++i) {
            const float* g = &layer.weights[static_cast<std::size_t>(i) * layer.outputs + o];
            const std::size_t row = static_cast<std::size_t>(run) * layer.outputs;
            weights[((o / 16 * 4L + part) * run + i) * 16 + o % 16] =
                pair_weight(part, g[0], g[row], g[2 * row]);
          }
    } else {
      weights.assign(static_cast<std::size_t>(window) * padded, 0);
      for (int i = 0; i < window; ++i)
        for (int o = 0; o < layer.outputs; ++o)
          weights[(static_cast<std::size_t>(o / 16) * window + i) * 16 + o % 16] =
              layer.weights[static_cast<std::size_t>(i) * layer.outputs + o];
    }
    bias = layer.bias;
    bias.resize(padded, 0);
    slope = layer.slope;
    slope.resize(padded, 1);
    view = {dense ? 1 : layer.kernel,
            dense ? window : layer.inputs,
            layer.outputs,
            padded,
            weights.data(),
            bias.data(),
            slope.data()};
  }
  ChannelLayer(const ChannelLayer&) = delete;  // the view points into it
  ChannelLayer& operator=(const ChannelLayer&) = delete;
};

struct PlaneLayer {
  std::vector<float> weights, bias, slope;
  PlanarLayer view;

  explicit PlaneLayer(const MtcnnLayer& layer) : bias(layer.bias), slope(layer.slope) {
    weights.resize(layer.weights.size() / 9 * 12);
    const std::size_t cell = static_cast<std::size_t>(layer.inputs) * layer.outputs;
    float* to = weights.data();
    for (int part = 0; part < 4; ++part)
      for (int i = 0; i < layer.inputs; ++i)
        for (int x = 0; x < 3; ++x)
          for (int o = 0; o < layer.outputs; ++o) {
            const float* g = &layer.weights[x * cell + i * layer.outputs + o];
            *to++ = pair_weight(part, g[0], g[3 * cell], g[6 * cell]);
          }
    view = {weights.data(), bias.data(), slope.data()};
  }
  PlaneLayer(const PlaneLayer&) = delete;
  PlaneLayer& operator=(const PlaneLayer&) = delete;
};

// P-Net's last layer: the difference of its logits for every cell, corrections where it is large.
struct PnetHeads {
  std::array<float, 32> score;
  float score_bias;
  std::array<std::array<float, 4>, 32> correction;
  std::array<float, 4> correction_bias;

  explicit PnetHeads(const MtcnnLayer& layer) : score_bias(layer.bias[1] - layer.bias[0]) {
    for (int c = 0; c < 32; ++c) {
      const float* w = &layer.weights[static_cast<std::size_t>(c) * layer.outputs];
      score[c] = w[1] - w[0];
      std::copy_n(w + 2, 4, correction[c].begin());
    }
    std::copy_n(layer.bias.begin() + 2, 4, correction_bias.begin());
  }
};

struct PreparedWeights {
  const MtcnnKernels& kernels;
  PlaneLayer p1, p2, p3;
  PnetHeads heads;
  ChannelLayer r1, r2, r3, r4, r5, o1, o2, o3, o4, o5, o6;

  PreparedWeights(const MtcnnWeights& w, Isa isa)
      : kernels(kernels_for(isa)),
        p1(w.p[0]),
        p2(w.p[1]),
        p3(w.p[2]),
        heads(w.p[3]),
        r1(w.r[0], false),
        r2(w.r[1], false),
        r3(w.r[2], false),
        r4(w.r[3], true),
        r5(w.r[4], true),
        o1(w.o[0], false),
        o2(w.o[1], false),
        o3(w.o[2], false),
        o4(w.o[3], false),
        o5(w.o[4], true),
        o6(w.o[5], true) {}
};

// The last few rows of a map in planes.
class RowRing {
 public:
  void reset(int rows, int channels, int width) {
    rows_ = rows;
    stride_ = (width + 15) / 16 * 16 + MtcnnKernels::slack;
    row_size_ = stride_ * channels;
    // Values beyond a row's end are computed but not used, so they need not be cleared.
    const std::size_t needed = row_size_ * rows + MtcnnKernels::slack;
    if (values_.size() < needed) values_.resize(needed);
  }
  float* row(int y) { return values_.data() + y % rows_ * row_size_; }
  long stride() const { return stride_; }

 private:
  int rows_ = 0;
  long stride_ = 0, row_size_ = 0;
  std::vector<float> values_;
};

class FastNetworks final : public MtcnnNetworks {
 public:
  explicit FastNetworks(std::shared_ptr<const PreparedWeights> weights)
      : w_(std::move(weights)), k_(w_->kernels) {}

  std::vector<MtcnnCell> pnet(const LevelRows& rows, int width, int height,
                              float threshold) override {
    const int w1 = width - 2, h1 = height - 2;
    const int w2 = (w1 + 1) / 2, w3 = w2 - 2;
    const int columns = pnet_cells(width);
    level_.reset(4, 3, width);
    first_.reset(2, 10, w1);
    pooled_.reset(4, 10, w2);
    second_.reset(4, 16, w3);
    third_.reset(2, 32, columns);
    if (scores_.size() < static_cast<std::size_t>(columns) + MtcnnKernels::slack)
      scores_.resize(columns + MtcnnKernels::slack);

    // If a map has an odd number of rows, the second row of its last pair is computed from the last
    // input row again, and not used.
    const int h2 = (h1 + 1) / 2, h3 = h2 - 2, cell_rows = pnet_cells(height);
    std::vector<MtcnnCell> cells;
    int levels = 0, pooleds = 0, seconds = 0;  // rows that are done
    for (int y = 0; y < cell_rows; y += 2) {
      for (; seconds < std::min(y + 4, h3); seconds += 2) {
        for (; pooleds < std::min(seconds + 4, h2); ++pooleds) {
          const int top = 2 * pooleds;
          for (; levels < std::min(top + 4, height); ++levels)
            rows(levels, level_.row(levels), level_.stride());
          convolve_first(top, height, w1);
          // An odd height leaves one row for the last pair.
          k_.pnet_pool(first_.row(0), first_.row(top + 1 < h1 ? 1 : 0), first_.stride(), w2,
                       pooled_.row(pooleds), pooled_.stride());
        }
        convolve(k_.pnet_conv2, w_->p2, pooled_, seconds, h2, w3, second_.row(seconds),
                 second_.row(seconds + 1), second_.stride());
      }
      convolve(k_.pnet_conv3, w_->p3, second_, y, h3, columns, third_.row(0), third_.row(1),
               third_.stride());
      for (int r = y; r < std::min(y + 2, cell_rows); ++r) collect(r, columns, threshold, cells);
    }
    return cells;
  }

  void rnet(int count, const Crops& crops, float* probability, float* correction) override {
    run<24, 9 * 64>(count, crops, w_->r4.view, w_->r5.view, {w_->r1.view, w_->r2.view, w_->r3.view},
                    k_.rnet_features, [&](int i, const float* out) {
                      probability[i] = face_probability(out[0], out[1]);
                      std::copy_n(out + 2, 4, correction + 4 * i);
                    });
  }

  void onet(int count, const Crops& crops, float* probability, float* correction,
            float* landmarks) override {
    run<48, 9 * 128>(count, crops, w_->o5.view, w_->o6.view,
                     {w_->o1.view, w_->o2.view, w_->o3.view, w_->o4.view}, k_.onet_features,
                     [&](int i, const float* out) {
                       probability[i] = face_probability(out[0], out[1]);
                       std::copy_n(out + 2, 4, correction + 4 * i);
                       std::copy_n(out + 6, 10, landmarks + 10 * i);
                     });
  }

 private:
  // Rows y and y + 1 of a map from those of the one before it, which has `height`.
  static void convolve(MtcnnKernels::PlanarRows kernel, const PlaneLayer& layer, RowRing& from,
                       int y, int height, int width, float* upper, float* lower, long stride) {
    const float* in[4];
    for (int k = 0; k < 4; ++k) in[k] = from.row(std::min(y + k, height - 1));
    kernel(in, from.stride(), width, layer.view, upper, lower, stride);
  }

  void convolve_first(int y, int height, int width) {
    convolve(k_.pnet_conv1, w_->p1, level_, y, height, width, first_.row(0), first_.row(1),
             first_.stride());
    // The pool's last window of an odd width has one column: a copy of it changes no maximum.
    for (float* out : {first_.row(0), first_.row(1)})
      for (int c = 0; c < 10; ++c, out += first_.stride()) out[width] = out[width - 1];
  }

  // Adds the cells of a row whose score passes.
  void collect(int y, int columns, float threshold, std::vector<MtcnnCell>& cells) {
    const PnetHeads& heads = w_->heads;
    k_.pnet_score(third_.row(y % 2), third_.stride(), columns, heads.score.data(), heads.score_bias,
                  scores_.data());
    const float least = least_difference(threshold);
    for (int x = 0; x < columns; ++x) {
      if (!(scores_[x] >= least)) continue;
      MtcnnCell cell{x, y, face_probability(0, scores_[x]), {}};
      if (!(cell.score >= threshold)) continue;
      correct(third_.row(y % 2) + x, cell.correction);
      cells.push_back(cell);
    }
  }

  void correct(const float* values, float* out) {
    const PnetHeads& heads = w_->heads;
    std::array<float, 4> sums = heads.correction_bias;
    for (const std::array<float, 4>& weights : heads.correction) {
      for (int k = 0; k < 4; ++k) sums[k] += weights[k] * *values;
      values += third_.stride();
    }
    std::copy_n(sums.begin(), 4, out);
  }

  // Features crop by crop, dense layers over several crops at a time.
  template <int side, int features, class Take>
  void run(int count, const Crops& crops, const ConvLayer& hidden, const ConvLayer& last,
           std::initializer_list<ConvLayer> convolutions,
           void (*kernel)(const float*, const ConvLayer*, float*, float*), const Take& take) {
    constexpr int batch = 12;
    scratch_.resize(MtcnnKernels::scratch);
    crop_.resize(side * side * 3 + MtcnnKernels::slack);
    features_.resize(batch * features);
    hidden_.resize(batch * hidden.padded);
    outputs_.resize(batch * last.padded);
    for (int first = 0; first < count; first += batch) {
      const int n = std::min(batch, count - first);
      for (int i = 0; i < n; ++i) {
        crops(first + i, crop_.data());
        kernel(crop_.data(), convolutions.begin(), scratch_.data(), &features_[i * features]);
      }
      k_.dense(features_.data(), n, hidden, hidden_.data());
      k_.dense(hidden_.data(), n, last, outputs_.data());
      for (int i = 0; i < n; ++i) take(first + i, &outputs_[i * last.padded]);
    }
  }

  std::shared_ptr<const PreparedWeights> w_;
  const MtcnnKernels& k_;
  RowRing level_, first_, pooled_, second_, third_;
  std::vector<float> scores_, scratch_, crop_, features_, hidden_, outputs_;
};

}  // namespace

MtcnnNetworksFactory fast_mtcnn(const MtcnnWeights& weights, Isa isa) {
  return [w = std::make_shared<const PreparedWeights>(weights, isa)] {
    return std::make_unique<FastNetworks>(w);
  };
}

}  // namespace facebench
