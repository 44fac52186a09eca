#include "facebench/embedding/extractor.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "facebench/embedding/pixel_input.h"
#include "facebench/io/manifest.h"
#include "facebench/nn/inference_network.h"
#include "facebench/nn/threads.h"

namespace facebench {

struct Extractor::State {
  InferenceNetwork network;
  Json description;
  std::string sha256;
  ExtractOptions options;  // resolved
  std::string tap;
  InputView view;
  PixelInput pixels;
  std::int64_t values;  // of one pass

  std::int64_t dim() const { return options.flip == "concat" ? 2 * values : values; }

  at::Tensor run(const ImageSource& images, std::span<const std::int64_t> rows, bool mirror) const {
    const ImageShape shape = view.input();
    const std::int64_t channels = pixels.channels();
    const std::int64_t size = shape.bytes() / 3 * channels;
    at::Tensor input =
        at::zeros({options.micro_batch, shape.height, shape.width, channels}, at::kFloat);
    float* out = input.data_ptr<float>();
    std::vector<std::uint8_t> buffer;
    for (const std::int64_t row : rows) {
      const std::uint8_t* seen = view.apply(images.pixels(row), buffer);
      pixels.write(seen, shape, {.mirror = mirror}, /*interleaved=*/true, out);
      out += size;
    }
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
  if (!resolved.flip) resolved.flip = model.options.flip;
  if (!resolved.normalization) resolved.normalization = model.options.normalization;
  state_ = std::make_unique<State>(
      State{InferenceNetwork(model.weights, resolved.micro_batch), model_description(model),
            model.sha256, resolved, model.options.tap, model.input_view(),
            PixelInput(model.options.color, model.options.mean, model.options.std),
            model.embedding_size()});
}

Extractor::~Extractor() = default;
Extractor::Extractor(Extractor&&) noexcept = default;
Extractor& Extractor::operator=(Extractor&&) noexcept = default;

std::int64_t Extractor::dim() const { return state_->dim(); }

EmbeddingSet Extractor::extract(const ImageSource& images, const Job& job) const {
  const ImageShape found = images.shape();
  const ImageShape wanted = state_->view.image();
  if (found != wanted)
    throw std::invalid_argument(fmt::format(
        "the images are {} x {} (height x width), the model '{}' takes {} x {}; crop them to that "
        "size",
        found.height, found.width, std::string(state_->description["network"]), wanted.height,
        wanted.width));
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
