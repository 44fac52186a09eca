#include "detection/mtcnn_networks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "facebench/core/error.h"
#include "facebench/io/safetensors.h"
#include "facebench/io/sha256.h"

namespace facebench {
namespace {

const MtcnnKernels& kernels_for(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return kMtcnnKernelsAvx512;
  if (isa == Isa::avx2) return kMtcnnKernelsAvx2;
#endif
  (void)isa;
  return kMtcnnKernelsPlain;
}

// The second of two softmax outputs.
float face_probability(const float* logits) {
  const float top = std::max(logits[0], logits[1]);
  const float no = std::exp(logits[0] - top), yes = std::exp(logits[1] - top);
  return yes / (no + yes);
}

}  // namespace

// Turns the file's tensors, (outputs, inputs, ky, kx) and (outputs, inputs) in single precision,
// into kernel layout.
class MtcnnNetworks::Loader {
 public:
  explicit Loader(const std::filesystem::path& path) : file_(path), where_(path.string()) {}

  Layer convolution(const std::string& name, const std::string& prelu, int kernel, int inputs,
                    int outputs) const {
    return layer({name}, prelu, kernel, inputs, {outputs}, {inputs, kernel, kernel});
  }
  // A fully connected layer on a kernel x kernel map, which the networks flatten column by column.
  Layer dense(const std::string& name, const std::string& prelu, int kernel, int inputs,
              int outputs) const {
    return layer({name}, prelu, kernel, inputs, {outputs}, {kernel * kernel * inputs});
  }
  // Several linear outputs of the same values, as one layer.
  Layer heads(const std::vector<std::string>& names, int inputs, const std::vector<int>& outputs,
              bool convolution) const {
    const std::vector<std::int64_t> shape =
        convolution ? std::vector<std::int64_t>{inputs, 1, 1} : std::vector<std::int64_t>{inputs};
    return layer(names, {}, 1, inputs, outputs, shape);
  }

 private:
  std::vector<float> tensor(const std::string& name, const std::vector<std::int64_t>& shape) const {
    const std::string advice = "Make the file again with scripts/convert_mtcnn.py";
    if (!file_.has(name)) fail(where_, fmt::format("there is no tensor '{}'", name), advice);
    const TensorInfo& info = file_.at(name);
    if (info.dtype != DType::f32 || info.shape != shape)
      fail(where_,
           fmt::format("tensor '{}' has shape [{}], expected single precision [{}]", name,
                       fmt::join(info.shape, ", "), fmt::join(shape, ", ")),
           advice);
    std::vector<float> values = file_.floats(name);
    for (const float v : values)
      if (!std::isfinite(v)) fail(where_, fmt::format("tensor '{}' is not finite", name), advice);
    return values;
  }

  Layer layer(const std::vector<std::string>& names, const std::string& prelu, int kernel,
              int inputs, const std::vector<int>& outputs,
              std::vector<std::int64_t> input_shape) const {
    int total = 0;
    for (const int n : outputs) total += n;
    const int padded = (total + 15) / 16 * 16;
    const int window = kernel * kernel * inputs;
    Layer result;
    result.shape = {kernel, inputs, total, padded};
    result.weights.assign(static_cast<std::size_t>(window) * padded, 0);
    result.bias.assign(padded, 0);
    result.slope.assign(padded, 1);
    const bool flat = input_shape.size() == 1;
    int first = 0;
    for (std::size_t part = 0; part < names.size(); ++part) {
      std::vector<std::int64_t> shape = input_shape;
      shape.insert(shape.begin(), outputs[part]);
      const std::vector<float> weights = tensor(names[part] + ".weight", shape);
      const std::vector<float> bias = tensor(names[part] + ".bias", {outputs[part]});
      for (int o = 0; o < outputs[part]; ++o) {
        result.bias[first + o] = bias[o];
        for (int y = 0; y < kernel; ++y)
          for (int x = 0; x < kernel; ++x)
            for (int i = 0; i < inputs; ++i) {
              const int from = flat ? (x * kernel + y) * inputs + i : (i * kernel + y) * kernel + x;
              const int to = (y * kernel + x) * inputs + i;
              result.weights[static_cast<std::size_t>(to) * padded + first + o] =
                  weights[static_cast<std::size_t>(o) * window + from];
            }
      }
      first += outputs[part];
    }
    if (!prelu.empty()) {
      const std::vector<float> slope = tensor(prelu + ".weight", {total});
      std::copy(slope.begin(), slope.end(), result.slope.begin());
    }
    return result;
  }

  SafetensorsFile file_;
  std::string where_;
};

ConvLayer MtcnnNetworks::Layer::view() const {
  ConvLayer v = shape;
  v.weights = weights.data();
  v.bias = bias.data();
  v.slope = slope.data();
  return v;
}

MtcnnNetworks::MtcnnNetworks(const std::filesystem::path& weights)
    : isa_(active_isa()), kernels_(&kernels_for(isa_)), sha256_(sha256_file(weights)) {
  const Loader load(weights);
  p_ = {load.convolution("pnet.conv1", "pnet.prelu1", 3, 3, 10),
        load.convolution("pnet.conv2", "pnet.prelu2", 3, 10, 16),
        load.convolution("pnet.conv3", "pnet.prelu3", 3, 16, 32),
        load.heads({"pnet.conv4_1", "pnet.conv4_2"}, 32, {2, 4}, true)};
  r_ = {load.convolution("rnet.conv1", "rnet.prelu1", 3, 3, 28),
        load.convolution("rnet.conv2", "rnet.prelu2", 3, 28, 48),
        load.convolution("rnet.conv3", "rnet.prelu3", 2, 48, 64),
        load.dense("rnet.dense4", "rnet.prelu4", 3, 64, 128),
        load.heads({"rnet.dense5_1", "rnet.dense5_2"}, 128, {2, 4}, false)};
  o_ = {load.convolution("onet.conv1", "onet.prelu1", 3, 3, 32),
        load.convolution("onet.conv2", "onet.prelu2", 3, 32, 64),
        load.convolution("onet.conv3", "onet.prelu3", 3, 64, 64),
        load.convolution("onet.conv4", "onet.prelu4", 2, 64, 128),
        load.dense("onet.dense5", "onet.prelu5", 3, 128, 256),
        load.heads({"onet.dense6_1", "onet.dense6_2", "onet.dense6_3"}, 256, {2, 4, 10}, false)};
}

void MtcnnNetworks::pnet(const float* level, int height, int width, Scratch& scratch,
                         std::vector<float>& probability, std::vector<float>& correction) const {
  const int rows = pnet_cells(height), columns = pnet_cells(width);
  probability.resize(static_cast<std::size_t>(rows) * columns);
  correction.resize(probability.size() * 4);
  // Strips of rows whose intermediate values stay in the cache.
  const int strip = std::clamp(16'384 / (columns + 4), 4, 64);
  auto& [a, b] = scratch;
  for (int first = 0; first < rows; first += strip) {
    const int last = std::min(rows, first + strip);
    const int top = 2 * first;
    // Pooling of an odd side keeps its last, cut cell: only the last strip meets it.
    const int in_height = std::min(height, 2 * (last + 4) + 2) - top;
    const int h1 = in_height - 2, w1 = width - 2;
    const int h2 = (h1 + 1) / 2, w2 = (w1 + 1) / 2;
    const int h3 = h2 - 2, w3 = w2 - 2;
    const std::size_t cells = static_cast<std::size_t>(last - first) * columns;
    a.resize(std::max<std::size_t>(static_cast<std::size_t>(h1) * w1 * 10,
                                   static_cast<std::size_t>(h3) * w3 * 16));
    b.resize(std::max<std::size_t>(static_cast<std::size_t>(h2) * w2 * 10, cells * 32));
    kernels_->convolve(level + static_cast<std::size_t>(top) * width * 3, 1, in_height, width,
                       p_[0].view(), a.data());
    kernels_->max_pool(a.data(), 1, h1, w1, 10, 2, b.data());
    kernels_->convolve(b.data(), 1, h2, w2, p_[1].view(), a.data());
    kernels_->convolve(a.data(), 1, h3, w3, p_[2].view(), b.data());
    a.resize(std::max(a.size(), cells * 6));
    kernels_->convolve(b.data(), 1, last - first, columns, p_[3].view(), a.data());
    const std::size_t start = static_cast<std::size_t>(first) * columns;
    for (std::size_t i = 0; i < cells; ++i) {
      probability[start + i] = face_probability(&a[6 * i]);
      std::copy_n(&a[6 * i + 2], 4, &correction[4 * (start + i)]);
    }
  }
}

void MtcnnNetworks::rnet(const float* crops, int count, Scratch& scratch, float* probability,
                         float* correction) const {
  auto& [a, b] = scratch;
  constexpr int batch = 8;  // what the cache holds
  a.resize(batch * 22 * 22 * 28);
  b.resize(batch * 11 * 11 * 28);
  for (int first = 0; first < count; first += batch) {
    const int n = std::min(batch, count - first);
    kernels_->convolve(crops + static_cast<std::size_t>(first) * 24 * 24 * 3, n, 24, 24,
                       r_[0].view(), a.data());
    kernels_->max_pool(a.data(), n, 22, 22, 28, 3, b.data());
    kernels_->convolve(b.data(), n, 11, 11, r_[1].view(), a.data());
    kernels_->max_pool(a.data(), n, 9, 9, 48, 3, b.data());
    kernels_->convolve(b.data(), n, 4, 4, r_[2].view(), a.data());
    kernels_->convolve(a.data(), n, 3, 3, r_[3].view(), b.data());
    kernels_->convolve(b.data(), n, 1, 1, r_[4].view(), a.data());
    for (int i = 0; i < n; ++i) {
      probability[first + i] = face_probability(&a[6 * i]);
      std::copy_n(&a[6 * i + 2], 4, correction + 4 * (first + i));
    }
  }
}

void MtcnnNetworks::onet(const float* crops, int count, Scratch& scratch, float* probability,
                         float* correction, float* landmarks) const {
  auto& [a, b] = scratch;
  constexpr int batch = 6;
  a.resize(batch * 46 * 46 * 32);
  b.resize(batch * 23 * 23 * 32);
  for (int first = 0; first < count; first += batch) {
    const int n = std::min(batch, count - first);
    kernels_->convolve(crops + static_cast<std::size_t>(first) * 48 * 48 * 3, n, 48, 48,
                       o_[0].view(), a.data());
    kernels_->max_pool(a.data(), n, 46, 46, 32, 3, b.data());
    kernels_->convolve(b.data(), n, 23, 23, o_[1].view(), a.data());
    kernels_->max_pool(a.data(), n, 21, 21, 64, 3, b.data());
    kernels_->convolve(b.data(), n, 10, 10, o_[2].view(), a.data());
    kernels_->max_pool(a.data(), n, 8, 8, 64, 2, b.data());
    kernels_->convolve(b.data(), n, 4, 4, o_[3].view(), a.data());
    kernels_->convolve(a.data(), n, 3, 3, o_[4].view(), b.data());
    kernels_->convolve(b.data(), n, 1, 1, o_[5].view(), a.data());
    for (int i = 0; i < n; ++i) {
      const float* out = &a[16 * i];
      probability[first + i] = face_probability(out);
      std::copy_n(out + 2, 4, correction + 4 * (first + i));
      std::copy_n(out + 6, 10, landmarks + 10 * (first + i));
    }
  }
}

}  // namespace facebench
