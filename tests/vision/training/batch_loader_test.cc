// From the pixels of a source to the batches of a training: rows, views, colours, the loader.
#include "facebench/training/batch_loader.h"

#include <gtest/gtest.h>

#include "training/helpers.h"

namespace facebench {
namespace {

TEST(BatchLoader, ThreadsNeverChangeABit) {
  const Pictures pictures(37, 5, {6, 5});
  const std::vector<std::int64_t> labels(37, 1);
  const ShuffleSampler sampler(numbers(37), 2, 8, LastBatch::wrap);
  std::vector<std::int64_t> samples(37);
  for (int i = 0; i < 37; ++i) samples[static_cast<std::size_t>(i)] = i;
  const ShuffleSampler real(samples, 2, 8, LastBatch::wrap);
  std::vector<at::Tensor> reference;
  for (const int threads : {0, 1, 3}) {
    BatchLoader::Settings settings{
        {.view = "random_resized_crop", .shift = 2, .color = "inception"},
        InputView("center_crop", 1, "bilinear", {6, 5}, {4, 4}),
        PixelInput("rgb", {127.5}, {128}),
        7};
    settings.threads = threads;
    BatchLoader loader(pictures, labels, real, settings, 3, 15);
    for (std::size_t i = 0; i < 12; ++i) {
      const Batch batch = loader.next();
      if (threads == 0) reference.push_back(batch.images);
      EXPECT_TRUE(batch.images.equal(reference[i])) << threads << " " << i;
    }
    EXPECT_THROW(loader.next(), std::out_of_range);
  }
}

}  // namespace
}  // namespace facebench
