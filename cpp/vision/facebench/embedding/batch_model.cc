#include "facebench/embedding/batch_model.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <utility>

#include "facebench/nn/inference_network.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

class NetworkModel : public BatchModel {
 public:
  NetworkModel(BatchModelInfo info, std::shared_ptr<const InferenceNetwork> network)
      : BatchModel(std::move(info)), network_(std::move(network)) {}

  at::Tensor embed(const at::Tensor& images) const override {
    const c10::InferenceMode inference;
    return network_->infer(images, info().options.tap).flatten(1).contiguous();
  }

 private:
  std::shared_ptr<const InferenceNetwork> network_;
};

std::shared_ptr<const InferenceNetwork> made_network(const Model& model, std::int64_t batch,
                                                     std::string_view precision) {
  return std::make_shared<InferenceNetwork>(
      model.weights, batch, inference_precisions().at(precision).precision, model.input_ranges);
}

std::unique_ptr<BatchModel> with_network(const Model& model,
                                         std::shared_ptr<const InferenceNetwork> network,
                                         std::string_view precision) {
  BatchModelInfo info = info_of(model);
  info.any_batch = network->any_batch(info.options.tap);
  // What this library's kernels do not have runs as torch's operations, bits and all.
  info.executor = info.any_batch ? "own" : "torch";
  info.precision = precision;
  return std::make_unique<NetworkModel>(std::move(info), std::move(network));
}

// What a network is prepared for, beside its weights.
std::string use_of(const Model& model, std::string_view precision) {
  std::string use = fmt::format("own {}", precision);
  for (const auto& [layer, range] : model.input_ranges)
    use += fmt::format(" {} {} {}", layer, range.low, range.high);
  return use;
}

// "Tried to allocate 20.00 MiB" out of "CUDA out of memory. Tried to allocate 20.00 MiB. GPU ...".
std::string asked_for(std::string_view said) {
  const std::size_t begin = said.find("Tried to allocate ");
  if (begin == std::string_view::npos) return "";
  return fmt::format(" ({})", said.substr(begin, said.find(". ", begin) - begin));
}

}  // namespace

OutOfMemory::OutOfMemory(std::string_view model, std::string_view device, std::int64_t images,
                         std::string_view said)
    : Error(fmt::format("model '{}': {} has no memory left for {} images at once{}. Take a smaller "
                        "micro_batch",
                        model, device, images, asked_for(said))) {}

BatchModelInfo info_of(const Model& model) {
  BatchModelInfo info;
  info.name = model.network;
  info.options = model.options;
  info.input = {*model.network_options.height, *model.network_options.width};
  info.thread_safe = true;
  info.embedding_size = model.embedding_size();
  info.description = model_description(model);
  if (!model.training.is_null()) info.description["training"] = model.training;
  info.file = model.file;
  info.sha256 = model.sha256;
  return info;
}

InputView BatchModel::input_view(const ImageShape& images) const {
  const ModelOptions& o = info_.options;
  const auto side = [](int stated, int present) { return stated > 0 ? stated : present; };
  const ImageShape input{side(info_.input.height, images.height),
                         side(info_.input.width, images.width)};
  const ImageShape expected{o.image_height.value_or(input.height),
                            o.image_width.value_or(input.width)};
  if (images != expected)
    throw std::invalid_argument(fmt::format(
        "the images are {} x {} (height x width), the model '{}' takes {} x {}; crop them to that "
        "size",
        images.height, images.width, info_.name, expected.height, expected.width));
  return {o.view, o.view_fraction, o.interpolation, images, input};
}

at::Tensor BatchModel::rows(const at::Tensor& images) const {
  const at::Tensor output = embed(images);
  const std::int64_t count = images.size(0);
  if (output.dim() != 2 || output.size(0) != count || output.size(1) == 0 ||
      output.scalar_type() != at::kFloat)
    throw std::invalid_argument(
        fmt::format("the model '{}' gave the shape ({}) for {} images, expected ({}, D)",
                    info_.name, fmt::join(output.sizes(), ", "), count, count));
  return output.contiguous();
}

std::unique_ptr<BatchModel> make_batch_model(const Model& model, std::int64_t batch,
                                             std::string_view precision) {
  return with_network(model, made_network(model, batch, precision), precision);
}

std::unique_ptr<BatchModel> prepared_batch_model(const Model& model, std::int64_t batch,
                                                 std::string_view precision) {
  return with_network(
      model,
      model.prepared->get<InferenceNetwork>(model.weights, use_of(model, precision),
                                            [&] { return made_network(model, batch, precision); }),
      precision);
}

}  // namespace facebench
