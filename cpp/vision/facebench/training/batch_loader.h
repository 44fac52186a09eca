#pragma once

#include <ATen/core/Tensor.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "facebench/datasets/image_source.h"
#include "facebench/training/augmentation.h"
#include "facebench/training/sampler.h"

namespace facebench {

struct Batch {
  at::Tensor images;  // (N, C, H, W) float32, laid out NHWC with channels_last; words (N, T) int64
  at::Tensor labels;  // (N) int64; of words (N, T)
};

// Makes the batches of a training ahead of the step that needs them, on threads of its own. What a
// batch holds depends on its number only, never on the threads.
class BatchLoader {
 public:
  struct Settings {
    AugmentationOptions augmentation;
    InputView input;
    PixelInput scale;
    std::uint64_t seed = 0;
    bool channels_last = true;
    // Of each batch this rank takes slots rank, rank + ranks, ...
    int rank = 0;
    int ranks = 1;
    int threads = 1;  // 0: next() itself does the work
  };

  // Batches first, first + 1, ..., last - 1. `images`, `labels` (a class for each image of the
  // source) and `sampler` must outlive the loader.
  BatchLoader(const ImageSource& images, const std::vector<std::int64_t>& labels,
              const Sampler& sampler, Settings settings, std::int64_t first, std::int64_t last);
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  // The next batch in order. Rethrows what failed while it was made; std::out_of_range past the
  // end.
  Batch next();

 private:
  struct Result {
    Batch batch;
    std::exception_ptr failure;
  };

  Batch make(std::int64_t iteration) const;
  void work();

  const ImageSource& images_;
  const std::vector<std::int64_t>& labels_;
  const Sampler& sampler_;
  Settings settings_;
  std::int64_t last_;
  std::int64_t ahead_;  // how many batches may wait or be in the making

  std::mutex mutex_;
  std::condition_variable made_, taken_;
  std::int64_t claimed_;   // next to be made
  std::int64_t consumed_;  // next to be handed out
  std::map<std::int64_t, Result> ready_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace facebench
