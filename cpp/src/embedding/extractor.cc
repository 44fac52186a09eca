#include "facebench/embedding/extractor.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "facebench/io/manifest.h"
#include "facebench/nn/inference_network.h"
#include "facebench/nn/threads.h"

namespace facebench {
namespace {

// Bytes to the network's numbers: (value - mean) / std for each of 256 values of each channel.
using ChannelTable = std::array<float, 256>;

std::vector<ChannelTable> input_tables(const ModelOptions& o, int channels) {
  std::vector<ChannelTable> tables(static_cast<std::size_t>(channels));
  for (std::size_t c = 0; c < tables.size(); ++c) {
    const double mean = o.mean[o.mean.size() == 1 ? 0 : c];
    const double std = o.std[o.std.size() == 1 ? 0 : c];
    for (std::size_t v = 0; v < 256; ++v)
      tables[c][v] = static_cast<float>((static_cast<double>(v) - mean) / std);
  }
  return tables;
}

}  // namespace

struct Extractor::State {
  InferenceNetwork network;
  Json description;
  std::string sha256;
  ExtractOptions options;  // resolved
  std::string tap;
  ImageShape shape;
  std::string color;
  std::vector<ChannelTable> tables;
  std::int64_t values;  // of one pass

  std::int64_t dim() const { return options.flip == "concat" ? 2 * values : values; }

  // One image as the network's channels, pixel by pixel; mirrored left to right where asked.
  void write_input(const std::uint8_t* rgb, bool mirror, float* out) const {
    const int channels = static_cast<int>(tables.size());
    const int width = shape.width;
    for (int y = 0; y < shape.height; ++y) {
      const std::uint8_t* row = rgb + std::int64_t{3} * y * width;
      for (int x = 0; x < width; ++x, out += channels) {
        const std::uint8_t* p = row + 3 * (mirror ? width - 1 - x : x);
        if (color == "rgb") {
          for (std::size_t c = 0; c < 3; ++c) out[c] = tables[c][p[c]];
        } else if (color == "bgr") {
          for (std::size_t c = 0; c < 3; ++c) out[c] = tables[c][p[2 - c]];
        } else {  // ITU-R BT.601 luma in 16-bit fixed point, as convert_color
          out[0] = tables[0][(19595U * p[0] + 38470U * p[1] + 7471U * p[2] + 32768U) >> 16];
        }
      }
    }
  }

  at::Tensor run(const ImageSource& images, std::span<const std::int64_t> rows, bool mirror) const {
    const auto channels = static_cast<std::int64_t>(tables.size());
    const std::int64_t size = shape.bytes() / 3 * channels;
    at::Tensor input =
        at::zeros({options.micro_batch, shape.height, shape.width, channels}, at::kFloat);
    float* out = input.data_ptr<float>();
    for (std::size_t i = 0; i < rows.size(); ++i)
      write_input(images.pixels(rows[i]), mirror, out + static_cast<std::int64_t>(i) * size);
    return network.infer(input.permute({0, 3, 1, 2}), tap).flatten(1).contiguous();
  }

  void embed(const ImageSource& images, std::span<const std::int64_t> rows,
             float* values_out) const {
    const c10::InferenceMode inference;
    const at::Tensor plain = run(images, rows, false);
    at::Tensor joined = plain;
    if (options.flip == "sum") joined = plain + run(images, rows, true);
    if (options.flip == "concat") joined = at::cat({plain, run(images, rows, true)}, 1);
    const float* from = joined.const_data_ptr<float>();
    const std::int64_t d = dim();
    for (std::size_t i = 0; i < rows.size(); ++i, from += d) {
      float* to = values_out + rows[i] * d;
      double squares = 0;
      for (std::int64_t k = 0; k < d; ++k) squares += static_cast<double>(from[k]) * from[k];
      const bool scaled = options.normalization == "unit" && squares > 0;
      const double norm = scaled ? std::sqrt(squares) : 1;
      for (std::int64_t k = 0; k < d; ++k) to[k] = static_cast<float>(from[k] / norm);
    }
  }
};

Extractor::Extractor(const Model& model, const ExtractOptions& options) {
  check_options(options);
  ExtractOptions resolved = options;
  if (resolved.flip == "model") resolved.flip = model.options.flip;
  if (resolved.normalization == "model") resolved.normalization = model.options.normalization;
  state_ = std::make_unique<State>(State{
      InferenceNetwork(model.weights, resolved.micro_batch), model_description(model), model.sha256,
      resolved, model.options.tap,
      ImageShape{model.network_options.height, model.network_options.width}, model.options.color,
      input_tables(model.options, model.network_options.channels), model.embedding_size()});
}

Extractor::~Extractor() = default;
Extractor::Extractor(Extractor&&) noexcept = default;
Extractor& Extractor::operator=(Extractor&&) noexcept = default;

std::int64_t Extractor::dim() const { return state_->dim(); }

EmbeddingSet Extractor::extract(const ImageSource& images, const Job& job) const {
  const ImageShape found = images.shape();
  if (found != state_->shape)
    throw std::invalid_argument(fmt::format(
        "the images are {} x {} (height x width), the model '{}' takes {} x {}; crop them to that "
        "size",
        found.height, found.width, std::string(state_->description["network"]),
        state_->shape.height, state_->shape.width));
  EmbeddingSet set;
  set.dim = dim();
  const std::int64_t n = images.size();
  set.values.assign(static_cast<std::size_t>(n * set.dim), 0.0F);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::string name = images.name(i);
    set.names.push_back(name.empty() ? std::to_string(i) : name);
    set.status.push_back(images.status(i));
    if (set.status.back() == SampleStatus::ok) rows.push_back(i);
  }

  const std::int64_t batch = state_->options.micro_batch;
  const auto total = static_cast<std::int64_t>(rows.size());
  const std::int64_t batches = (total + batch - 1) / batch;
  Stage stage(job, "embed", batches, "batches");
  torch_parallel_for(
      batches, job,
      [&](std::int64_t b, int) {
        const std::int64_t first = b * batch;
        const auto count = static_cast<std::size_t>(std::min(batch, total - first));
        state_->embed(images, std::span(rows).subspan(static_cast<std::size_t>(first), count),
                      set.values.data());
      },
      &stage);

  set.manifest = content_basics();
  set.manifest["torch"] = TORCH_VERSION;
  set.manifest["model"] = state_->description;
  set.manifest["model_sha256"] = state_->sha256;
  set.manifest["extract"] = options_to_json(state_->options);
  return set;
}

EmbeddingSet extract(const Model& model, const ImageSource& images, const ExtractOptions& options,
                     const Job& job) {
  return Extractor(model, options).extract(images, job);
}

}  // namespace facebench
