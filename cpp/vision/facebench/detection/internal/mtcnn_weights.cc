#include "facebench/detection/internal/mtcnn_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "facebench/core/error.h"
#include "facebench/io/safetensors.h"
#include "facebench/io/sha256.h"

namespace facebench {
namespace {

// Turns the file's tensors, (outputs, inputs, ky, kx) and (outputs, inputs) in single precision,
// into layers.
class Loader {
 public:
  explicit Loader(const std::filesystem::path& path) : file_(path), where_(path.string()) {}

  MtcnnLayer convolution(const std::string& name, const std::string& prelu, int kernel, int inputs,
                         int outputs) const {
    return layer({name}, prelu, kernel, inputs, {outputs}, {inputs, kernel, kernel});
  }
  // A fully connected layer on a kernel x kernel map, which the networks flatten column by column.
  MtcnnLayer dense(const std::string& name, const std::string& prelu, int kernel, int inputs,
                   int outputs) const {
    return layer({name}, prelu, kernel, inputs, {outputs}, {kernel * kernel * inputs});
  }
  // Several linear outputs of the same values, as one layer.
  MtcnnLayer heads(const std::vector<std::string>& names, int inputs,
                   const std::vector<int>& outputs, bool convolution) const {
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

  MtcnnLayer layer(const std::vector<std::string>& names, const std::string& prelu, int kernel,
                   int inputs, const std::vector<int>& outputs,
                   std::vector<std::int64_t> input_shape) const {
    MtcnnLayer result{kernel, inputs, 0, {}, {}, {}};
    for (const int n : outputs) result.outputs += n;
    const int window = kernel * kernel * inputs;
    result.weights.resize(static_cast<std::size_t>(window) * result.outputs);
    const bool flat = input_shape.size() == 1;
    input_shape.insert(input_shape.begin(), 0);
    int first = 0;
    for (std::size_t part = 0; part < names.size(); ++part) {
      input_shape[0] = outputs[part];
      const std::vector<float> weights = tensor(names[part] + ".weight", input_shape);
      const std::vector<float> bias = tensor(names[part] + ".bias", {outputs[part]});
      result.bias.insert(result.bias.end(), bias.begin(), bias.end());
      for (int o = 0; o < outputs[part]; ++o)
        for (int y = 0; y < kernel; ++y)
          for (int x = 0; x < kernel; ++x)
            for (int i = 0; i < inputs; ++i) {
              const int from = flat ? (x * kernel + y) * inputs + i : (i * kernel + y) * kernel + x;
              const int to = (y * kernel + x) * inputs + i;
              result.weights[static_cast<std::size_t>(to) * result.outputs + first + o] =
                  weights[static_cast<std::size_t>(o) * window + from];
            }
      first += outputs[part];
    }
    result.slope = prelu.empty() ? std::vector<float>(result.outputs, 1.f)
                                 : tensor(prelu + ".weight", {result.outputs});
    return result;
  }

  SafetensorsFile file_;
  std::string where_;
};

}  // namespace

MtcnnWeights read_mtcnn_weights(const std::filesystem::path& path) {
  const Loader load(path);
  MtcnnWeights w;
  w.p = {load.convolution("pnet.conv1", "pnet.prelu1", 3, 3, 10),
         load.convolution("pnet.conv2", "pnet.prelu2", 3, 10, 16),
         load.convolution("pnet.conv3", "pnet.prelu3", 3, 16, 32),
         load.heads({"pnet.conv4_1", "pnet.conv4_2"}, 32, {2, 4}, true)};
  w.r = {load.convolution("rnet.conv1", "rnet.prelu1", 3, 3, 28),
         load.convolution("rnet.conv2", "rnet.prelu2", 3, 28, 48),
         load.convolution("rnet.conv3", "rnet.prelu3", 2, 48, 64),
         load.dense("rnet.dense4", "rnet.prelu4", 3, 64, 128),
         load.heads({"rnet.dense5_1", "rnet.dense5_2"}, 128, {2, 4}, false)};
  w.o = {load.convolution("onet.conv1", "onet.prelu1", 3, 3, 32),
         load.convolution("onet.conv2", "onet.prelu2", 3, 32, 64),
         load.convolution("onet.conv3", "onet.prelu3", 3, 64, 64),
         load.convolution("onet.conv4", "onet.prelu4", 2, 64, 128),
         load.dense("onet.dense5", "onet.prelu5", 3, 128, 256),
         load.heads({"onet.dense6_1", "onet.dense6_2", "onet.dense6_3"}, 256, {2, 4, 10}, false)};
  w.sha256 = sha256_file(path);
  return w;
}

}  // namespace facebench
