#include "facebench/timing/step_input.h"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "facebench/archives/archive.h"
#include "facebench/core/error.h"
#include "facebench/core/job.h"
#include "facebench/core/random.h"
#include "facebench/datasets/dataset.h"
#include "facebench/datasets/decoded_images.h"
#include "facebench/datasets/pack.h"
#include "facebench/images/decode.h"
#include "facebench/io/file.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/training/training_set.h"

namespace facebench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One batch of noise, made once (Liu et al. 2018); of words, the next word is noise too.
class SyntheticInput : public StepInput {
 public:
  explicit SyntheticInput(const StepInputOptions& o)
      : classes_(o.words > 0 ? o.vocabulary : o.classes) {
    at::Generator generator = at::detail::createCPUGenerator(o.seed);
    const std::int64_t n = o.batch / o.ranks;
    const auto whole = at::TensorOptions(at::kLong);
    if (o.words > 0) {
      batch_.images = at::randint(classes_, {n, o.words}, generator, whole);
      batch_.labels = at::randint(classes_, {n, o.words}, generator, whole);
      return;
    }
    batch_.images =
        at::rand({n, o.channels, o.height, o.width}, generator, at::TensorOptions(at::kFloat))
            .mul_(2)
            .sub_(1)
            .contiguous(o.channels_last ? at::MemoryFormat::ChannelsLast
                                        : at::MemoryFormat::Contiguous);
    batch_.labels = at::randint(classes_, {n}, generator, whole);
  }
  Batch next() override { return batch_; }
  std::int64_t classes() const override { return classes_; }
  bool works() const override { return false; }

 private:
  Batch batch_;
  std::int64_t classes_;
};

// What a training's loader makes of a source of images.
class LoadedInput : public StepInput {
 public:
  LoadedInput(const StepInputOptions& o, std::unique_ptr<ImageSource> images,
              std::vector<std::int64_t> samples, std::vector<std::int64_t> labels,
              std::int64_t classes)
      : images_(std::move(images)),
        labels_(std::move(labels)),
        classes_(classes),
        sampler_(std::move(samples), o.seed, o.batch, LastBatch::wrap),
        loader_(*images_, labels_, sampler_,
                {AugmentationOptions{},
                 InputView("whole", 1, "bilinear", images_->shape(), images_->shape()),
                 PixelInput("rgb", {127.5}, {128}), o.seed, o.channels_last, o.rank, o.ranks,
                 o.data_threads},
                0, std::numeric_limits<std::int64_t>::max() / o.batch - 1) {}
  Batch next() override { return loader_.next(); }
  std::int64_t classes() const override { return classes_; }
  bool works() const override { return true; }

 private:
  std::unique_ptr<ImageSource> images_;
  std::vector<std::int64_t> labels_;
  std::int64_t classes_;
  ShuffleSampler sampler_;
  BatchLoader loader_;
};

std::unique_ptr<StepInput> make_synthetic(const StepInputOptions& o) {
  return std::make_unique<SyntheticInput>(o);
}

std::unique_ptr<Pack> open_pack(const StepInputOptions& o) {
  auto pack = std::make_unique<Pack>(o.path);
  if (pack->shape() != ImageShape{o.height, o.width})
    throw std::invalid_argument(
        fmt::format("{}: its images are {}x{}, the network takes {}x{} (height x width)",
                    o.path.string(), pack->shape().height, pack->shape().width, o.height, o.width));
  return pack;
}

std::unique_ptr<StepInput> make_pack(const StepInputOptions& o) {
  std::unique_ptr<Pack> pack = open_pack(o);
  TrainingClasses classes = training_classes(training_set(*pack));
  return std::make_unique<LoadedInput>(o, std::move(pack), std::move(classes.samples),
                                       std::move(classes.labels), classes.count);
}

// Images in memory that nothing else holds.
class OwnedImages : public ImageSource {
 public:
  OwnedImages(std::vector<std::uint8_t> pixels, std::int64_t size, ImageShape shape)
      : pixels_(std::move(pixels)), view_(pixels_.data(), size, shape) {}
  std::int64_t size() const override { return view_.size(); }
  ImageShape shape() const override { return view_.shape(); }
  SampleStatus status(std::int64_t i) const override { return view_.status(i); }
  std::string name(std::int64_t i) const override { return view_.name(i); }
  const std::uint8_t* pixels(std::int64_t i) const override { return view_.pixels(i); }

 private:
  std::vector<std::uint8_t> pixels_;
  ImageArray view_;
};

// A pack's first images, or noise, copied into memory: four batches, so that the caches do not hold
// the one batch that is always the same.
std::unique_ptr<StepInput> make_preloaded(const StepInputOptions& o) {
  const ImageShape shape{o.height, o.width};
  std::int64_t n = 4 * o.batch;
  std::vector<std::int64_t> labels;
  std::vector<std::uint8_t> pixels;
  std::int64_t count = o.classes;
  if (!o.path.empty()) {
    const std::unique_ptr<Pack> pack = open_pack(o);
    const TrainingClasses classes = training_classes(training_set(*pack));
    n = std::min(n, static_cast<std::int64_t>(classes.samples.size()));
    count = classes.count;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t i = classes.samples[static_cast<std::size_t>(k)];
      pixels.insert(pixels.end(), pack->pixels(i), pack->pixels(i) + shape.bytes());
      labels.push_back(classes.labels[static_cast<std::size_t>(i)]);
    }
  } else {
    Random random(o.seed, "bench-images");
    pixels.resize(static_cast<std::size_t>(n * shape.bytes()));
    for (std::size_t at = 0; at < pixels.size(); at += 4) {
      const std::uint32_t word = random.next_u32();
      for (std::size_t k = 0; k < 4 && at + k < pixels.size(); ++k)
        pixels[at + k] = static_cast<std::uint8_t>(word >> (8 * k));
    }
    for (std::int64_t i = 0; i < n; ++i)
      labels.push_back(
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(o.classes))));
  }
  std::vector<std::int64_t> samples(static_cast<std::size_t>(n));
  std::iota(samples.begin(), samples.end(), 0);
  return std::make_unique<LoadedInput>(o,
                                       std::make_unique<OwnedImages>(std::move(pixels), n, shape),
                                       std::move(samples), std::move(labels), count);
}

std::unique_ptr<StepInput> make_files(const StepInputOptions& o) {
  auto images = std::make_unique<DecodedImages>(
      find_image_archive(o.path) ? read_archive(o.path) : read_image_folder(o.path),
      ImageShape{o.height, o.width});
  std::vector<std::int64_t> samples, labels;
  for (const Sample& s : images->dataset().samples) {
    samples.push_back(static_cast<std::int64_t>(samples.size()));
    labels.push_back(s.label);
  }
  const auto count = static_cast<std::int64_t>(images->dataset().label_names.size());
  return std::make_unique<LoadedInput>(o, std::move(images), std::move(samples), std::move(labels),
                                       count);
}

}  // namespace

const Table<StepInputEntry>& step_inputs() {
  static const Table<StepInputEntry> table(
      "input",
      {{"synthetic", "one batch of noise, made once: no data time at all", false, make_synthetic},
       {"preloaded", "images in memory (of a pack, or noise), flipped and scaled for each batch",
        false, make_preloaded},
       {"pack", "a pack on disk, flipped and scaled for each batch", true, make_pack},
       {"files", "a folder or an archive of images, decoded, resized and scaled for each batch",
        true, make_files}});
  return table;
}

std::unique_ptr<StepInput> make_step_input(const StepInputOptions& o) {
  const StepInputEntry& entry = step_inputs().at(o.source);
  if (entry.needs_path && o.path.empty())
    throw std::invalid_argument(fmt::format("input '{}' needs a path", entry.name));
  if (o.batch < 1 || o.ranks < 1 || o.batch % o.ranks != 0)
    throw std::invalid_argument(
        fmt::format("a batch of {} cannot be shared by {} processes", o.batch, o.ranks));
  if (o.words > 0 && o.source != "synthetic")
    throw std::invalid_argument(
        fmt::format("input '{}' has images, the network reads words (synthetic)", entry.name));
  if (o.channels != 3 && o.source != "synthetic")
    throw std::invalid_argument(
        fmt::format("input '{}' has images of three channels, the network takes {} (synthetic)",
                    entry.name, o.channels));
  if (o.classes < 1) throw std::invalid_argument("an input needs at least one class");
  return entry.make(o);
}

std::vector<double> time_input(StepInput& input, std::int64_t batches) {
  for (int i = 0; i < 2; ++i) input.next();
  std::vector<double> seconds;
  for (std::int64_t i = 0; i < batches; ++i) {
    const Clock::time_point start = Clock::now();
    input.next();
    seconds.push_back(seconds_since(start));
  }
  return seconds;
}

double decode_rate(const std::vector<std::filesystem::path>& files, int threads, int rounds) {
  if (files.empty() || rounds < 1)
    throw std::invalid_argument("decode_rate: there is nothing to decode");
  std::vector<std::string> bytes;
  for (const std::filesystem::path& file : files) bytes.push_back(read_file(file));
  Job job;
  job.threads = threads;
  const auto n = static_cast<std::int64_t>(files.size());
  const auto decode = [&](std::int64_t i, int) {
    const auto k = static_cast<std::size_t>(i % n);
    decode_image(std::as_bytes(std::span(bytes[k])), {}, files[k].string());
  };
  parallel_for(n, job, decode);  // warm, and every file seen
  const Clock::time_point start = Clock::now();
  parallel_for(n * rounds, job, decode);
  return static_cast<double>(n * rounds) / seconds_since(start);
}

}  // namespace facebench
