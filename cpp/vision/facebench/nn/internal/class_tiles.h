#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "facebench/nn/internal/head_kernels.h"

namespace facebench {

// The two passes over all classes that the cross entropy of a classifier and its gradients take
// (class_cross_entropy.h), on plain memory. Classes go by in tiles that stay in the cache, so that
// each weight is read from memory once in a pass, and neither unit weights nor probabilities are
// ever stored.
//
// A class may have several centres, each a row of the weight: those of class j from row j centers
// on. Its logit is that of the nearest.
//
// Matrices of classes and images are stored class by class, padded_images() values in each row.
// The same bits for the same number of torch's intra-op threads.
class ClassTiles {
 public:
  struct Sizes {
    std::int64_t images, features, classes, centers = 1;  // centers: at most 256
  };
  // What other classes' logits count as (head_kernels.h), `bound` a value for each image.
  struct Terms {
    OtherTerms::Kind kind = OtherTerms::softmax;
    std::vector<float> bound = {};
    float linear = 1, square = 0, limit = 0;
  };
  // rows (images, features); weight (classes centers, features); bias (classes), null with several
  // centres, or null; labels (images). Pointers must outlive the object. unit_weights: weights are
  // divided by their norms, at least 1e-6. bfloat16: products of numbers rounded to bfloat16 where
  // the processor has them.
  ClassTiles(Sizes sizes, const float* rows, const float* weight, const float* bias,
             const std::int64_t* labels, bool unit_weights, bool bfloat16, Terms terms);

  std::int64_t padded_images() const { return padded_images_; }

  // Over an image's classes except the true one: the logarithm of the sum of exp(term), -infinity
  // where there is no other, or the sum of a threshold's terms and of their derivatives; and the
  // highest class (the first of equals; -1) with its logit.
  struct Others {
    std::vector<double> log_sum, sum, slope;
    std::vector<float> highest;
    std::vector<int> winner;
  };
  // Fills logits (classes, padded_images), inverse_norms (rows of weight; 1 where not
  // unit_weights), and with several centres `nearest` (classes, padded_images), which one a logit
  // is of.
  Others forward(float* logits, float* inverse_norms, std::uint8_t* nearest) const;

  // Takes the gradient (count, features) of a tile's weights, the rows from `first` on; may
  // overwrite it, and change these weights. Called by each thread for its own tiles.
  using TileUpdate = std::function<void(std::int64_t first, std::int64_t count, float* gradient)>;

  struct Gradients {
    const float* logits;
    const float* inverse_norms;
    const std::uint8_t* nearest;
    // Of each image: the gradient of logit j is share * exp(term j - log_sum) times the term's
    // derivative, or share times that of a threshold's term; that of the target logit is `own`.
    std::vector<float> share, log_sum, own;
    // Wanted ones not null. Of the weight: of its size, or given to `update`.
    float* weight;
    TileUpdate update;
    float* bias;  // (classes)
    float* rows;  // (images, features): over the classes, the logit's gradient times (unit) weights
  };
  void backward(const Gradients& g) const;

 private:
  struct Scratch;
  struct Part;
  OtherTerms terms(std::int64_t first_image) const;
  Others sum_of(const std::vector<Part>& parts) const;
  void logit_gradients(const Gradients& g, std::int64_t tile, Scratch& s) const;
  void weight_gradients(const Gradients& g, std::int64_t tile, const std::uint32_t* row_panels,
                        Scratch& s) const;
  void row_gradients(std::int64_t tile, Scratch& s) const;
  std::int64_t groups(std::int64_t values) const { return (values + k_.group - 1) / k_.group; }
  std::int64_t rows_of(std::int64_t tile) const {  // of the weight
    return std::min(tile_, classes_ - tile * tile_) * centers_;
  }
  // Calls body(thread, first, last) with the tiles of each thread.
  template <class Body>
  void each_thread(const Body& body) const;

  const HeadKernels& k_;
  std::int64_t images_, features_, classes_, centers_, padded_images_, padded_features_;
  std::int64_t tile_, tiles_;  // classes in a tile
  int threads_;
  const float *rows_, *weight_, *bias_;
  const std::int64_t* labels_;
  bool unit_weights_;
  Terms terms_;
  std::vector<int> padded_labels_;
  std::vector<int> by_class_;  // images in the order of their labels
};

}  // namespace facebench
