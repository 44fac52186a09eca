#pragma once

#include <cstdint>
#include <memory>

#include "facebench/embedding/extractor.h"

namespace facebench {

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
