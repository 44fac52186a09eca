#include "facebench/embedding/torch_model.h"

#include <ATen/Context.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "facebench/core/devices.h"
#include "facebench/core/error.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/torch_arithmetic.h"
#include "facebench/nn/torch_device.h"

namespace facebench {
namespace {

at::ScalarType type_of(std::string_view precision, c10::Device device) {
  if (precision == "float32") return at::kFloat;
  if (precision == "bfloat16") return at::kBFloat16;
  if (precision == "float16") return at::kHalf;
  if (precision == "tf32" && device.is_cuda()) return at::kFloat;
  throw std::invalid_argument(
      fmt::format("precision {}: torch on {} has float32, bfloat16, float16{}", precision,
                  device.str(), device.is_cuda() ? " and tf32" : "; tf32 is of cards"));
}

// What the bits depend on beside torch's version, for manifests.
Json facts_of(c10::Device device) {
  if (!device.is_cuda()) return nullptr;
  const auto index = static_cast<std::size_t>(device.index());
  return {{"name", cuda_devices().devices.at(index).name},
          {"cudnn", at::detail::getCUDAHooks().versionCuDNN()}};
}

class TorchModel : public BatchModel {
 public:
  TorchModel(BatchModelInfo info, Network network, c10::Device device)
      : BatchModel(std::move(info)), network_(std::move(network)), device_(device) {}

  at::Tensor embed(const at::Tensor& images) const override {
    const c10::InferenceMode inference;
    std::optional<TorchArithmetic> arithmetic;
    if (device_.is_cuda()) arithmetic.emplace(/*deterministic=*/true, info().precision == "tf32");
    try {
      return network_.infer(input_on(images, device_, network_.dtype()), info().options.tap)
          .flatten(1)
          .to(at::kCPU, at::kFloat)
          .contiguous();
    } catch (const c10::OutOfMemoryError& e) {
      throw OutOfMemory(info().name, device_.str(), images.size(0), e.what_without_backtrace());
    }
  }

 private:
  Network network_;
  c10::Device device_;
};

}  // namespace

std::unique_ptr<BatchModel> make_torch_model(const Model& model, std::string_view device,
                                             std::string_view precision) {
  const c10::Device where = torch_device(device);
  Network network = fold_batch_norm(model.weights);
  network.to(where, type_of(precision, where));
  network.channels_last();
  BatchModelInfo info = info_of(model);
  info.executor = "torch";
  info.device = where.str();
  info.device_facts = facts_of(where);
  info.precision = precision;
  info.thread_safe = where.is_cpu();
  return std::make_unique<TorchModel>(std::move(info), std::move(network), where);
}

}  // namespace facebench
