#include "facebench/embedding/torch_model.h"

#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/embedding/pixel_input.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/launch_thread.h"
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

// PixelInput where the network is: the bytes travel, and each becomes the very number that it
// becomes on the processor.
class PixelTable {
 public:
  PixelTable(const ModelOptions& options, c10::Device device, at::ScalarType dtype)
      : order_(parse_color_order(options.color)) {
    const PixelInput pixels(options.color, options.mean, options.std);
    std::array<std::uint8_t, 3 * 256> ramp{};  // in luma too a gray pixel is its own value
    for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<std::uint8_t>(i / 3);
    at::Tensor numbers = at::empty({256, pixels.channels()}, at::kFloat);
    pixels.write(ramp.data(), {1, 256}, {}, /*interleaved=*/true, numbers.data_ptr<float>());
    numbers_ = numbers.flatten().to(device, dtype);
    channels_ = at::arange(pixels.channels(), at::kInt).to(device);
  }

  // uint8 (N, H, W, 3), RGB, to (N, C, H, W) that lies in memory as NHWC.
  at::Tensor apply(const at::Tensor& bytes) const {
    at::Tensor values = bytes.to(at::kInt);
    if (order_ == ColorOrder::gray) {
      const at::Tensor luma =
          luma_sum(values.select(3, 0), values.select(3, 1), values.select(3, 2));
      values = (luma + 32768).__rshift__(16).unsqueeze(3);
    } else if (order_ == ColorOrder::bgr) {
      values = values.flip(3);
    }
    const at::Tensor places = values * channels_.size(0) + channels_;
    return numbers_.index_select(0, places.flatten()).view(places.sizes()).permute({0, 3, 1, 2});
  }

 private:
  ColorOrder order_;
  at::Tensor numbers_, channels_;  // of byte b and channel c: place b * channels + c
};

class TorchModel : public BatchModel {
 public:
  TorchModel(BatchModelInfo info, std::shared_ptr<const Network> network, at::MemoryFormat layout,
             c10::Device device)
      : BatchModel(std::move(info)),
        network_(std::move(network)),
        layout_(layout),
        device_(device),
        pixels_(this->info().options, device, network_->dtype()) {}

  at::Tensor embed(const at::Tensor& images) const override {
    const c10::InferenceMode inference;
    try {
      // A card has its work when the launch thread is done; what it computes is waited for here,
      // so that others hand over theirs meanwhile.
      const at::Tensor features = device_.is_cuda()
                                      ? on_launch_thread([&] { return launched(images); })
                                      : embeddings(images);
      return features.flatten(1).to(at::kCPU, at::kFloat).contiguous();
    } catch (const c10::OutOfMemoryError& e) {
      throw OutOfMemory(info().name, device_.str(), images.size(0), e.what_without_backtrace());
    }
  }

 private:
  at::Tensor launched(const at::Tensor& images) const {
    const c10::InferenceMode inference;
    const TorchArithmetic arithmetic(/*deterministic=*/true, info().precision == "tf32");
    return embeddings(images);
  }

  at::Tensor embeddings(const at::Tensor& images) const {
    const at::Tensor bytes = images.to(device_, at::kByte, /*non_blocking=*/true);
    return network_->infer(pixels_.apply(bytes).contiguous(layout_), info().options.tap);
  }

  std::shared_ptr<const Network> network_;
  at::MemoryFormat layout_;
  c10::Device device_;
  PixelTable pixels_;
};

// A card's matrix units want NHWC. Without them, in float32, cuDNN is faster in NCHW: on an H200
// IResNet-50 by 11 %, ResNet-50 by 15 % (docs/gpu-results.md).
bool channels_last(c10::Device where, std::string_view precision) {
  return !where.is_cuda() || precision != "float32";
}

std::shared_ptr<const Network> made_network(const Model& model, c10::Device where,
                                            std::string_view precision) {
  auto network = std::make_shared<Network>(fold_batch_norm(model.weights));
  network->to(where, type_of(precision, where));
  network->channels_last(channels_last(where, precision));
  return network;
}

std::unique_ptr<BatchModel> with_network(const Model& model, std::shared_ptr<const Network> network,
                                         c10::Device where, std::string_view precision) {
  BatchModelInfo info = info_of(model);
  info.executor = "torch";
  info.device = where.str();
  info.device_facts = device_facts(where);
  info.precision = precision;
  info.raw_bytes = true;
  return std::make_unique<TorchModel>(std::move(info), std::move(network),
                                      channels_last(where, precision)
                                          ? at::MemoryFormat::ChannelsLast
                                          : at::MemoryFormat::Contiguous,
                                      where);
}

}  // namespace

std::unique_ptr<BatchModel> make_torch_model(const Model& model, std::string_view device,
                                             std::string_view precision) {
  const c10::Device where = torch_device(device);
  return with_network(model, made_network(model, where, precision), where, precision);
}

std::unique_ptr<BatchModel> prepared_torch_model(const Model& model, std::string_view device,
                                                 std::string_view precision) {
  const c10::Device where = torch_device(device);
  return with_network(
      model,
      model.prepared->get<Network>(model.weights, fmt::format("{} {}", where.str(), precision),
                                   [&] { return made_network(model, where, precision); }),
      where, precision);
}

}  // namespace facebench
