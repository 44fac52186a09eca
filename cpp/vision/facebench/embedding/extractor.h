#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/datasets/image_source.h"
#include "facebench/embedding/batch_model.h"
#include "facebench/embedding/model.h"
#include "facebench/io/embeddings.h"
#include "facebench/nn/inference_network.h"

namespace facebench {

// Images that go through a network together on the processor, where nothing else is said.
inline constexpr int kMicroBatch = 8;

struct ExtractOptions {
  // Unset: what the model says.
  std::optional<std::string> flip;
  std::optional<std::string> normalization;
  // Unset: kMicroBatch on the processor, 256 on a card.
  std::optional<int> micro_batch;
  std::string precision = "float32";
  std::string device = "cpu";
  // Unset: "own" on the processor, "torch" on a card.
  std::optional<std::string> executor;

  static void describe(OptionsBuilder<ExtractOptions>& o);
};

// One embedding for each image of `images`, in their order; a row whose status is not ok is zeros,
// and its image is ignored. Length D of a row: the model's embedding size, twice that with flip
// "concat". With unit normalisation each row is divided by its Euclidean norm (a row of zeros
// stays); flips are joined before that.
//
// Images go through in micro-batches, of fixed size (the last one filled up with its last image)
// where the batch decides the bits (BatchModelInfo::any_batch). A network of ours gives the same
// bits for any number of threads, and for the same build, torch and instruction set; a model that
// is not thread-safe is called on the calling thread. Where the device has no memory left, the
// micro-batch is halved once. The manifest says what was computed with what.
//
// Throws std::invalid_argument where the images' size is not what the model takes, its output is
// not (N, D) or it is computed on another device, by another executor or in another precision than
// asked for, OutOfMemory, and Error naming the image for a number that is not finite, and where no
// image is ok and the model does not say how long its embeddings are.
EmbeddingSet extract(const BatchModel& model, const ImageSource& images,
                     const ExtractOptions& options = {}, const Job& job = {});
EmbeddingSet extract(const Model& model, const ImageSource& images,
                     const ExtractOptions& options = {}, const Job& job = {});

// The network of a model on the device, by the executor and in the precision of the options: the
// one that the model keeps (Model::prepared), so that the next call has it at once. Throws
// std::invalid_argument as make_torch_model() and the other make_batch_model() do, and where this
// library's own inference is asked for on a card.
std::unique_ptr<BatchModel> make_batch_model(const Model& model, const ExtractOptions& options);

// What micro_batch says, or what it is on the device where it says nothing.
int micro_batch_of(const ExtractOptions& options, std::string_view device);

// The options with what the model decides of them. Throws std::invalid_argument as extract() does.
ExtractOptions resolved_options(const ExtractOptions& options, const BatchModelInfo& model);

// extract() of crops that are still being made: what one worker adds is embedded by it, batch by
// batch, while others are cut out. The embeddings are those of extract() on the finished crops, bit
// for bit. Where batches decide the bits, or the model is not thread-safe, add() does nothing.
class CropExtractor {
 public:
  // Of `count` crops of one size. `workers` call add(). The model must outlive this. Throws
  // std::invalid_argument as extract() does.
  CropExtractor(const BatchModel& model, const ImageShape& shape, std::int64_t count,
                const ExtractOptions& options, int workers);
  ~CropExtractor();
  CropExtractor(const CropExtractor&) = delete;
  CropExtractor& operator=(const CropExtractor&) = delete;

  // Row `row` of the crops, shape().bytes() bytes. Safe for several workers at once.
  void add(std::int64_t row, const std::uint8_t* pixels, int worker);

  // Embeds what is left and hands out the set; once. Throws as extract() does.
  EmbeddingSet finish(const ImageSource& images, const Job& job = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace facebench
