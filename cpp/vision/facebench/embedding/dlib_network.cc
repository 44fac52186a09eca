#include "facebench/embedding/dlib_network.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/detection/dlib_layers.h"
#include "facebench/detection/dlib_models.h"
#include "facebench/embedding/convert.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

at::Tensor tensor(const std::vector<float>& numbers, at::IntArrayRef shape) {
  return at::tensor(at::ArrayRef<float>(numbers)).reshape(shape);
}

}  // namespace

Model dlib_model(const std::filesystem::path& path) {
  const DlibModel& known = dlib_models().at("face_network");
  const std::filesystem::path file = path.empty() ? find_dlib_model(known.name) : path;
  const std::string bytes = read_dlib_model(known.name, file);
  const std::vector<DlibConvolution> convolutions = read_dlib_convolutions(bytes, file.string());
  const DlibLinear linear = read_dlib_linear(bytes, file.string());

  const Graph graph = build_graph("dlib_resnet29");
  std::vector<NamedTensor> tensors;
  std::size_t next = 0;
  for (const Node& node : graph.nodes()) {
    const auto add = [&](const char* name, at::Tensor t) {
      tensors.push_back({node.name + name, std::move(t)});
    };
    if (node.op == Op::linear)
      add(".weight", tensor(linear.weight, {linear.features, linear.embedding}).t().contiguous());
    if (node.op != Op::conv && node.op != Op::batch_norm) continue;
    if (next == convolutions.size())
      fail(file.string(),
           fmt::format("holds {} convolutions, and '{}' is one more", next, node.name));
    const DlibConvolution& c = convolutions[next];
    if (node.op == Op::conv) {
      add(".weight", tensor(c.weight, {c.out, c.in, c.height, c.width}));
      continue;
    }
    // The batch norm behind it gives scale * (convolution + bias) + shift.
    const at::Tensor scale = tensor(c.scale, {c.out});
    add(".weight", scale);
    add(".bias", tensor(c.shift, {c.out}) + scale * tensor(c.bias, {c.out}));
    add(".running_mean", at::zeros({c.out}));
    add(".running_var", at::full({c.out}, 1 - std::get<BatchNormOptions>(node.options).eps));
    ++next;
  }
  ModelOptions options = conversion_defaults("dlib_resnet29");
  options.origin = fmt::format("{} sha256:{}", known.file, known.sha256);
  Model model = convert_weights("dlib_resnet29", tensors, {}, options, {}, file.string());
  model.file = file;
  model.sha256 = known.sha256;
  return model;
}

}  // namespace facebench
