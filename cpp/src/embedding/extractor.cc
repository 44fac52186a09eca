#include "facebench/embedding/extractor.h"

#include <ATen/ATen.h>
#include <ATen/Version.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/embedding/pixel_input.h"
#include "facebench/io/manifest.h"
#include "facebench/nn/threads.h"

namespace facebench {
namespace {

using Rows = std::span<const std::int64_t>;

ExtractOptions resolve(const ExtractOptions& options, const ModelOptions& model) {
  check_options(options);
  ExtractOptions resolved = options;
  if (!resolved.flip) resolved.flip = model.flip;
  if (!resolved.normalization) resolved.normalization = model.normalization;
  return resolved;
}

std::optional<PixelInput> pixel_input(const BatchModelInfo& info) {
  if (info.raw_bytes) return std::nullopt;
  return PixelInput(info.options.color, info.options.mean, info.options.std);
}

void copy_bytes(const std::uint8_t* rgb, const ImageShape& shape, bool mirror, std::uint8_t* out) {
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x, out += 3) {
      const int from = mirror ? shape.width - 1 - x : x;
      std::copy_n(rgb + std::int64_t{3} * (y * shape.width + from), 3, out);
    }
}

// Batch after batch through a model, into the rows of a set.
class Extraction {
 public:
  Extraction(const BatchModel& model, const ImageSource& images, const ExtractOptions& options,
             EmbeddingSet& set)
      : model_(model),
        images_(images),
        options_(options),
        view_(model.input_view(images.shape())),
        pixels_(pixel_input(model.info())),
        set_(set) {
    if (model.info().embedding_size > 0)
      allocate(model.info().embedding_size * (options.flip == "concat" ? 2 : 1));
  }

  // Safe for several batches at once where the model is and says how long its embeddings are.
  void embed(Rows rows) {
    at::Tensor values = run(rows, false);
    if (options_.flip == "sum") values = values + run(rows, true);
    if (options_.flip == "concat") values = at::cat({values, run(rows, true)}, 1);
    const std::int64_t dim = values.size(1);
    if (set_.dim == 0) allocate(dim);
    if (dim != set_.dim)
      throw std::invalid_argument(
          fmt::format("the model '{}' gave embeddings of {} numbers, expected {}",
                      model_.info().name, dim, set_.dim));
    for (std::size_t i = 0; i < rows.size(); ++i)
      store(values.const_data_ptr<float>() + static_cast<std::int64_t>(i) * dim, rows[i]);
  }

 private:
  void allocate(std::int64_t dim) {
    set_.dim = dim;
    set_.values.assign(set_.size() * static_cast<std::size_t>(dim), 0.0F);
  }

  // Images that go through together; beyond `rows` the last one is repeated.
  int in_batch(Rows rows) const {
    return model_.info().any_batch ? static_cast<int>(rows.size()) : options_.micro_batch;
  }

  at::Tensor batch(Rows rows, bool mirror) const {
    const ImageShape shape = view_.input();
    const int count = in_batch(rows);
    const int channels = pixels_ ? pixels_->channels() : 3;
    at::Tensor input =
        at::empty({count, shape.height, shape.width, channels}, pixels_ ? at::kFloat : at::kByte);
    const std::int64_t size = shape.bytes() / 3 * channels;
    std::vector<std::uint8_t> buffer;
    for (int i = 0; i < count; ++i) {
      const std::int64_t row = rows[std::min(static_cast<std::size_t>(i), rows.size() - 1)];
      const std::uint8_t* seen = view_.apply(images_.pixels(row), buffer);
      if (pixels_)
        pixels_->write(seen, shape, {.mirror = mirror}, /*interleaved=*/true,
                       input.data_ptr<float>() + i * size);
      else
        copy_bytes(seen, shape, mirror, input.data_ptr<std::uint8_t>() + i * size);
    }
    return pixels_ ? input.permute({0, 3, 1, 2}) : input;
  }

  at::Tensor run(Rows rows, bool mirror) const {
    const at::Tensor output = model_.embed(batch(rows, mirror));
    const int count = in_batch(rows);
    if (output.dim() != 2 || output.size(0) != count || output.size(1) == 0 ||
        output.scalar_type() != at::kFloat)
      throw std::invalid_argument(
          fmt::format("the model '{}' gave the shape ({}) for {} images, expected ({}, D)",
                      model_.info().name, fmt::join(output.sizes(), ", "), count, count));
    return output.contiguous();
  }

  void store(const float* from, std::int64_t row) {
    double squares = 0;
    for (std::int64_t k = 0; k < set_.dim; ++k) squares += static_cast<double>(from[k]) * from[k];
    if (!std::isfinite(squares))
      fail(fmt::format("model '{}'", model_.info().name),
           fmt::format("the embedding of image '{}' has a number that is not finite",
                       set_.names[static_cast<std::size_t>(row)]),
           "Check the model's weights and its mean and std");
    const bool scaled = options_.normalization == "unit" && squares > 0;
    const double norm = scaled ? std::sqrt(squares) : 1;
    float* to = set_.values.data() + row * set_.dim;
    for (std::int64_t k = 0; k < set_.dim; ++k) to[k] = static_cast<float>(from[k] / norm);
  }

  const BatchModel& model_;
  const ImageSource& images_;
  const ExtractOptions& options_;  // resolved
  InputView view_;
  std::optional<PixelInput> pixels_;  // nothing: the model takes bytes
  EmbeddingSet& set_;
};

// What torch and the oneDNN in it may use of the processor: both choose their kernels by it, and
// environment variables of theirs lower it. Embeddings move in their last bits.
Json torch_instruction_sets() {
  const char* limit = std::getenv("ONEDNN_MAX_CPU_ISA");
  if (!limit) limit = std::getenv("DNNL_MAX_CPU_ISA");
  return {{"torch", at::get_cpu_capability()}, {"onednn_max", limit ? limit : "all"}};
}

}  // namespace

EmbeddingSet extract(const BatchModel& model, const ImageSource& images,
                     const ExtractOptions& options, const Job& job) {
  const BatchModelInfo& info = model.info();
  const ExtractOptions resolved = resolve(options, info.options);
  EmbeddingSet set;
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < images.size(); ++i) {
    const std::string name = images.name(i);
    set.names.push_back(name.empty() ? std::to_string(i) : name);
    set.status.push_back(images.status(i));
    if (set.status.back() == SampleStatus::ok) rows.push_back(i);
  }
  Extraction extraction(model, images, resolved, set);

  const auto total = static_cast<std::int64_t>(rows.size());
  const std::int64_t workers = job.workers();
  std::int64_t batch = resolved.micro_batch;
  // Few images: one share for each worker, or all workers on each image.
  if (info.any_batch && total < batch * workers)
    batch = total < workers ? std::max<std::int64_t>(total, 1) : (total + workers - 1) / workers;
  const bool together = info.any_batch && total < workers;
  const std::int64_t batches = (total + batch - 1) / batch;
  Stage stage(job, "embed", batches, "batches");
  const auto embed = [&](std::int64_t b, int) {
    const auto count = static_cast<std::size_t>(std::min(batch, total - b * batch));
    extraction.embed(Rows(rows).subspan(static_cast<std::size_t>(b * batch), count));
  };
  if (info.thread_safe && info.embedding_size > 0 && !together) {
    torch_parallel_for(batches, job, embed, &stage);
  } else {
    const TorchThreads threads =
        together ? TorchThreads(static_cast<int>(workers)) : TorchThreads();
    for (std::int64_t b = 0; b < batches; ++b) {
      embed(b, 0);
      stage.update(b + 1);
    }
  }
  if (set.dim == 0)
    fail(fmt::format("model '{}'", info.name),
         "no image has a face, so nothing says how long the embeddings are");

  set.manifest = content_basics();
  set.manifest["torch"] = TORCH_VERSION;
  set.manifest["torch_isa"] = torch_instruction_sets();
  set.manifest["model"] = info.description;
  set.manifest["model_sha256"] = info.sha256;
  set.manifest["extract"] = options_to_json(resolved);
  return set;
}

EmbeddingSet extract(const Model& model, const ImageSource& images, const ExtractOptions& options,
                     const Job& job) {
  check_options(options);
  return extract(*make_batch_model(model, options.micro_batch), images, options, job);
}

}  // namespace facebench
