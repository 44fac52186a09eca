#include "facebench/embedding/extractor.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/embedding/odd_rows.h"
#include "facebench/embedding/pixel_input.h"
#include "facebench/embedding/torch_model.h"
#include "facebench/io/manifest.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/threads.h"
#include "facebench/nn/torch_device.h"

namespace facebench {
namespace {

using Rows = std::span<const std::int64_t>;
using Images = std::span<const std::uint8_t* const>;  // the pixels of some

std::optional<PixelInput> pixel_input(const BatchModelInfo& info) {
  if (info.raw_bytes) return std::nullopt;
  return PixelInput(info.options.color, info.options.mean, info.options.std);
}

void copy_bytes(const std::uint8_t* rgb, const ImageShape& shape, bool mirror, std::uint8_t* out) {
  if (!mirror) {
    std::copy_n(rgb, shape.bytes(), out);
    return;
  }
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x, out += 3) {
      const int from = shape.width - 1 - x;
      std::copy_n(rgb + std::int64_t{3} * (y * shape.width + from), 3, out);
    }
}

// Batch after batch through a model, into the rows of a set.
class Extraction {
 public:
  Extraction(const BatchModel& model, const ImageShape& shape, std::int64_t count,
             const ExtractOptions& options)
      : model_(model),
        options_(resolved_options(options, model.info())),
        view_(model.input_view(shape)),
        pixels_(pixel_input(model.info())) {
    set_.names.resize(static_cast<std::size_t>(count));
    if (model.info().embedding_size > 0)
      allocate(model.info().embedding_size * (options_.flip == "concat" ? 2 : 1));
  }

  const ExtractOptions& options() const { return options_; }
  EmbeddingSet& set() { return set_; }
  void halve_batch() { *options_.micro_batch /= 2; }
  // What settle_batch() found of the model's rows; empty: each depends on its image alone.
  const std::string& dependence() const { return dependence_; }

  // Asks a model that is not ours, with its first images, whether rows depend on each other; then
  // one image goes through at a time. Throws as batch_dependence() does.
  void settle_batch(Images first) {
    const BatchModelInfo& info = model_.info();
    if (info.any_batch || !info.executor.empty()) return;
    dependence_ = info.findings->of(*options_.micro_batch, [&] {
      return batch_dependence(model_, batch(first, /*mirror=*/false));
    });
    if (!dependence_.empty()) options_.micro_batch = 1;
  }

  // images[i] becomes row rows[i] of the set. Safe for several batches at once where the model is
  // and says how long its embeddings are.
  void embed(Rows rows, Images images) {
    at::Tensor values = run(images, false);
    check_length(values.size(1));
    if (options_.flip == "sum") values = values + run(images, true);
    if (options_.flip == "concat") values = at::cat({values, run(images, true)}, 1);
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
  // One number at unit length tells nothing but its sign.
  void check_length(std::int64_t dim) const {
    if (dim == 1 && options_.normalization == "unit")
      fail(fmt::format("model '{}'", model_.info().name),
           "it gives one number for each image, which at unit length is 1 or -1",
           "An embedding has more: take another output or layer. To take the number as it is, "
           "state normalization=\"none\" (--normalization none)");
  }

  void allocate(std::int64_t dim) {
    set_.dim = dim;
    set_.values.assign(set_.size() * static_cast<std::size_t>(dim), 0.0F);
  }

  // Images that go through together; beyond `images` the last one is repeated.
  int in_batch(Images images) const {
    return model_.info().any_batch ? static_cast<int>(images.size()) : *options_.micro_batch;
  }

  at::Tensor batch(Images images, bool mirror) const {
    const ImageShape shape = view_.input();
    const int count = in_batch(images);
    const int channels = pixels_ ? pixels_->channels() : 3;
    // Torch moves memory that is pinned faster to a card.
    at::Tensor input = at::empty(
        {count, shape.height, shape.width, channels},
        at::TensorOptions(pixels_ ? at::kFloat : at::kByte)
            .pinned_memory(model_.info().executor == "torch" && model_.info().device != "cpu"));
    const std::int64_t size = shape.bytes() / 3 * channels;
    std::vector<std::uint8_t> buffer;
    for (int i = 0; i < count; ++i) {
      const std::uint8_t* seen =
          view_.apply(images[std::min(static_cast<std::size_t>(i), images.size() - 1)], buffer);
      if (pixels_)
        pixels_->write(seen, shape, {.mirror = mirror}, /*interleaved=*/true,
                       input.data_ptr<float>() + i * size);
      else
        copy_bytes(seen, shape, mirror, input.data_ptr<std::uint8_t>() + i * size);
    }
    return pixels_ ? input.permute({0, 3, 1, 2}) : input;
  }

  at::Tensor run(Images images, bool mirror) const { return model_.rows(batch(images, mirror)); }

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
  ExtractOptions options_;  // resolved
  InputView view_;
  std::optional<PixelInput> pixels_;  // nothing: the model takes bytes
  EmbeddingSet set_;
  std::string dependence_;
};

// Through the model, in batches of the options.
void embed_rows(Extraction& extraction, Rows rows, const ImageSource& images,
                const BatchModelInfo& info, std::string_view note, const Job& job) {
  const auto total = static_cast<std::int64_t>(rows.size());
  const std::int64_t workers = job.workers();
  const auto pixels_of = [&](Rows some) {
    std::vector<const std::uint8_t*> pixels;
    for (const std::int64_t row : some) pixels.push_back(images.pixels(row));
    return pixels;
  };
  const bool together = info.any_batch && total < workers;
  // Another engine's own number of threads holds unless the caller states one.
  const TorchThreads threads =
      together || job.threads > 0 ? TorchThreads(static_cast<int>(workers)) : TorchThreads();
  if (total > 0) {
    const std::int64_t most = *extraction.options().micro_batch;
    extraction.settle_batch(pixels_of(rows.first(static_cast<std::size_t>(std::min(most, total)))));
  }
  std::int64_t batch = *extraction.options().micro_batch;
  // Few images: one share for each worker, or all workers on each image.
  if (info.any_batch && total < batch * workers)
    batch = total < workers ? std::max<std::int64_t>(total, 1) : (total + workers - 1) / workers;
  const std::int64_t batches = (total + batch - 1) / batch;
  Stage stage(job, "embed", batches, "batches");
  if (!note.empty()) stage.update(0, note);
  const auto embed = [&](std::int64_t b, int) {
    const auto count = static_cast<std::size_t>(std::min(batch, total - b * batch));
    const Rows some = rows.subspan(static_cast<std::size_t>(b * batch), count);
    extraction.embed(some, pixels_of(some));
  };
  if (info.thread_safe && info.embedding_size > 0 && !together) {
    torch_parallel_for(batches, job, embed, &stage);
  } else {
    for (std::int64_t b = 0; b < batches; ++b) {
      embed(b, 0);
      stage.update(b + 1);
    }
  }
}

// Whether any two with a face do.
bool images_differ(const ImageSource& images) {
  const auto bytes = static_cast<std::size_t>(images.shape().bytes());
  std::vector<std::uint8_t> kept;
  for (std::int64_t i = 0; i < images.size(); ++i) {
    if (images.status(i) != SampleStatus::ok) continue;
    const std::uint8_t* pixels = images.pixels(i);
    if (kept.empty())
      kept.assign(pixels, pixels + bytes);
    else if (!std::equal(kept.begin(), kept.end(), pixels))
      return true;
  }
  return false;
}

// What torch and the oneDNN in it may use of the processor: both choose their kernels by it, and
// environment variables of theirs lower it. Embeddings move in their last bits.
Json torch_instruction_sets() {
  const char* limit = std::getenv("ONEDNN_MAX_CPU_ISA");
  if (!limit) limit = std::getenv("DNNL_MAX_CPU_ISA");
  return {{"torch", at::get_cpu_capability()}, {"onednn_max", limit ? limit : "all"}};
}

}  // namespace

void ExtractOptions::describe(OptionsBuilder<ExtractOptions>& o) {
  o.name("ExtractOptions", "How images become embeddings.");
  o.choice("flip", &ExtractOptions::flip,
           "what becomes of the mirrored image's output: left out, added (sum) or appended "
           "(concat); default: what the model says",
           {"none", "sum", "concat"});
  o.choice("normalization", &ExtractOptions::normalization,
           "embeddings of unit length, or as they are (none); default: what the model says",
           {"unit", "none"});
  o.field("micro_batch", &ExtractOptions::micro_batch,
          "images that go through the network together, default: 8, or 256 on a card; decides the "
          "last bits of a model whose operations are not all this library's own",
          1, 1024);
  o.choice(
      "precision", &ExtractOptions::precision,
      "what the layers of a network of this library multiply: float32 as trained, bfloat16, or "
      "int8 of a model that 'facebench quantize' wrote; the lower, the faster where the "
      "processor has AVX-512 BF16. By torch float32, bfloat16, float16, and tf32 on a card",
      {"float32", "bfloat16", "int8", "float16", "tf32"});
  o.field("device", &ExtractOptions::device,
          "where a network of this library or an ONNX file runs: cpu, cuda (the first card), "
          "cuda:N, or auto (a card where there is one)");
  o.choice("executor", &ExtractOptions::executor,
           "own (this library's inference, on the processor) or torch (on any device); default: "
           "own on the processor, torch on a card",
           {"own", "torch"});
}

std::unique_ptr<BatchModel> make_batch_model(const Model& model, const ExtractOptions& options) {
  check_options(options);
  const std::string device = torch_device(options.device).str();
  const bool on_processor = device == "cpu";
  if (options.executor.value_or(on_processor ? "own" : "torch") == "torch")
    return prepared_torch_model(model, device, options.precision);
  if (!on_processor)
    throw std::invalid_argument(
        fmt::format("executor own: this library's inference runs on the processor, not on {}; "
                    "take executor torch",
                    device));
  return prepared_batch_model(model, micro_batch_of(options, device), options.precision);
}

int micro_batch_of(const ExtractOptions& options, std::string_view device) {
  return options.micro_batch.value_or(device == "cpu" ? kMicroBatch : 256);
}

ExtractOptions resolved_options(const ExtractOptions& options, const BatchModelInfo& info) {
  check_options(options);
  if (options.precision != info.precision)
    throw std::invalid_argument(
        fmt::format("precision {}: the model '{}' is computed in {}; other precisions are for "
                    "networks of this library and ONNX files",
                    options.precision, info.name, info.precision));
  const std::string device = torch_device(options.device).str();
  if (device != info.device && options.device != "auto")
    throw std::invalid_argument(
        fmt::format("device {}: the model '{}' is computed on {}; other devices are for networks "
                    "of this library and ONNX files. A module of your own moves there by itself",
                    device, info.name, info.device));
  if (options.executor && *options.executor != info.executor)
    throw std::invalid_argument(fmt::format(
        "executor {}: the model '{}' is computed by {}", *options.executor, info.name,
        info.executor.empty() ? "its own library; executors are for networks of this library"
        : *options.executor == "own"
            ? info.executor + ", since it has an operation that this library's kernels do not have "
                              "(or not there); its last bits depend on the batch size"
            : info.executor));
  const ModelOptions& model = info.options;
  ExtractOptions resolved = options;
  resolved.device = info.device;
  if (!info.executor.empty()) resolved.executor = info.executor;
  resolved.micro_batch = micro_batch_of(options, info.device);
  if (!resolved.flip) resolved.flip = model.flip;
  if (!resolved.normalization) resolved.normalization = model.normalization;
  return resolved;
}

struct CropExtractor::State {
  // Crops of one worker that wait until they are a batch.
  struct Waiting {
    std::vector<std::int64_t> rows;
    std::vector<std::uint8_t> pixels;
  };

  State(const BatchModel& m, const ImageShape& s, std::int64_t count, const ExtractOptions& o,
        int workers)
      : model(m),
        shape(s),
        extraction(m, s, count, o),
        done(static_cast<std::size_t>(count)),
        waiting(static_cast<std::size_t>(workers)) {}

  const BatchModel& model;
  const ImageShape shape;
  Extraction extraction;
  std::vector<std::uint8_t> done;  // a row each, so that threads do not share them
  std::vector<Waiting> waiting;    // by worker
  TorchThreads threads_as_before;
};

CropExtractor::CropExtractor(const BatchModel& model, const ImageShape& shape, std::int64_t count,
                             const ExtractOptions& options, int workers)
    : state_(std::make_unique<State>(model, shape, count, options, workers)) {}

CropExtractor::~CropExtractor() = default;

void CropExtractor::add(std::int64_t row, const std::uint8_t* pixels, int worker) {
  const BatchModelInfo& info = state_->model.info();
  if (!info.any_batch || !info.thread_safe || info.embedding_size == 0) return;
  State::Waiting& waiting = state_->waiting[static_cast<std::size_t>(worker)];
  const std::int64_t size = state_->shape.bytes();
  waiting.rows.push_back(row);
  waiting.pixels.insert(waiting.pixels.end(), pixels, pixels + size);
  const std::size_t count = waiting.rows.size();
  if (count < static_cast<std::size_t>(*state_->extraction.options().micro_batch)) return;
  std::vector<const std::uint8_t*> images;
  for (std::size_t i = 0; i < count; ++i)
    images.push_back(waiting.pixels.data() + static_cast<std::int64_t>(i) * size);
  if (at::get_num_threads() != 1) at::set_num_threads(1);
  try {
    state_->extraction.embed(waiting.rows, images);
    for (const std::int64_t done : waiting.rows) state_->done[static_cast<std::size_t>(done)] = 1;
  } catch (const Error&) {
    // finish() meets it again, and names the same image for any number of threads.
  }
  waiting.rows.clear();
  waiting.pixels.clear();
}

EmbeddingSet CropExtractor::finish(const ImageSource& images, const Job& job) {
  const BatchModelInfo& info = state_->model.info();
  Extraction& extraction = state_->extraction;
  const ExtractOptions& options = extraction.options();
  EmbeddingSet& set = extraction.set();
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < images.size(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    set.names[row] = sample_id(images, i);
    set.status.push_back(images.status(i));
    if (set.status.back() == SampleStatus::ok && !state_->done[row]) rows.push_back(i);
  }

  try {
    embed_rows(extraction, rows, images, info, "", job);
  } catch (const OutOfMemory& e) {
    if (*options.micro_batch < 2) throw;
    // All of them again, so that the manifest's batch made every bit.
    extraction.halve_batch();
    embed_rows(extraction, rows, images, info, fmt::format("the batch is halved: {}", e.what()),
               job);
  }
  if (set.dim == 0)
    fail(fmt::format("model '{}'", info.name),
         "no image has a face, so nothing says how long the embeddings are");

  set.manifest = content_basics();
  set.manifest["torch"] = TORCH_VERSION;
  set.manifest["torch_isa"] = torch_instruction_sets();
  set.manifest["model"] = info.description;
  set.manifest["model_sha256"] = info.sha256;
  set.manifest["extract"] = options_to_json(options);
  if (!info.device_facts.is_null()) set.manifest["device"] = info.device_facts;
  if (!extraction.dependence().empty()) set.manifest["batch_dependence"] = extraction.dependence();
  if (const std::string odd = odd_rows(set, images_differ(images)); !odd.empty())
    set.manifest["odd_rows"] = odd;
  return std::move(set);
}

EmbeddingSet extract(const BatchModel& model, const ImageSource& images,
                     const ExtractOptions& options, const Job& job) {
  return CropExtractor(model, images.shape(), images.size(), options, 0).finish(images, job);
}

EmbeddingSet extract(const Model& model, const ImageSource& images, const ExtractOptions& options,
                     const Job& job) {
  return extract(*make_batch_model(model, options), images, options, job);
}

}  // namespace facebench
