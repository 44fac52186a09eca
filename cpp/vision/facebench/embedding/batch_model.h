#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "facebench/core/error.h"
#include "facebench/embedding/batch_dependence.h"
#include "facebench/embedding/model.h"
#include "facebench/io/json.h"

namespace facebench {

// The device has no memory left for a batch.
class OutOfMemory : public Error {
 public:
  // `said` is torch's own message.
  OutOfMemory(std::string_view model, std::string_view device, std::int64_t images,
              std::string_view said);
};

// How batches for a model are made, and what its embeddings are.
struct BatchModelInfo {
  std::string name;          // in messages and run folders
  ModelOptions options;      // of its images and embeddings
  ImageShape input;          // of its input; a side that is 0 takes any size
  bool raw_bytes = false;    // it takes RGB bytes; options.color, mean and std are not used
  bool prepared = true;      // the options say how its images are detected and cropped
  bool thread_safe = false;  // embed() may be called from several threads at once
  // A row's bits depend on its image alone, whatever the batch and torch's number of threads; and
  // a batch of any size costs no more for each image than a larger one.
  bool any_batch = false;
  // How far a row may move with the other images of its batch, as a share of its length: what the
  // model's arithmetic explains. Where it moves further, images go through one at a time.
  double row_tolerance = 1e-3;
  // Of a model that is not a network of ours (no executor), once extract() has asked. Null: its
  // own; another object's where both are one model.
  std::shared_ptr<BatchFindings> findings;
  std::string precision = "float32";  // of its products, as ExtractOptions has it
  std::string device = "cpu";         // that computes it
  std::string executor;               // of a network of ours: "own" or "torch"
  Json device_facts;                  // of a card, for manifests: its name, cuDNN
  std::int64_t embedding_size = 0;    // values of one embedding; 0: the first batch tells
  Json description;                   // for manifests
  std::filesystem::path file;         // where it was read from; may be empty
  std::string sha256;                 // of that file; may be empty
};

// A model as the extractor sees it: a batch of images in, one embedding for each out. Our own
// networks are one kind; derive from it to use another engine. Everything else (views, colour
// order, mean and std, mirrored images, length, manifest) is the extractor's work.
class BatchModel {
 public:
  explicit BatchModel(BatchModelInfo info) : info_(std::move(info)) {
    if (!info_.findings) info_.findings = std::make_shared<BatchFindings>();
  }
  virtual ~BatchModel() = default;

  const BatchModelInfo& info() const { return info_; }

  // How its input is cut out of images of this size. Throws std::invalid_argument where it takes
  // images of another size.
  InputView input_view(const ImageShape& images) const;

  // images: float32 (N, C, H, W), or uint8 (N, H, W, 3) with info().raw_bytes, on the CPU, in any
  // memory order. Returns float32 (N, D) on the CPU. A row depends on its own image only, which
  // extract() tries (batch_dependence()). Throws
  // OutOfMemory where fewer images at once may do.
  virtual at::Tensor embed(const at::Tensor& images) const = 0;
  // The same, contiguous. Throws std::invalid_argument where embed() gives another shape.
  at::Tensor rows(const at::Tensor& images) const;

 private:
  BatchModelInfo info_;
};

// What its file says of a model.
BatchModelInfo info_of(const Model& model);

// The network of a model, its weights folded and packed for batches of that size. Independent of
// `model`. Throws std::invalid_argument for a precision that is none of inference_precisions() or
// that the network does not have (InferenceNetwork).
std::unique_ptr<BatchModel> make_batch_model(const Model& model, std::int64_t batch,
                                             std::string_view precision = "float32");
// The same with the network that the model keeps (Model::prepared), which is made by the first call
// and where the weights have changed.
std::unique_ptr<BatchModel> prepared_batch_model(const Model& model, std::int64_t batch,
                                                 std::string_view precision = "float32");

}  // namespace facebench
