#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "facebench/core/job.h"

namespace facebench {

// Embeddings that are compared by cosine: a view of size() vectors of dim() float32 values, one
// behind the other, with the length of each, computed once. They need not be unit vectors. The
// values must outlive the view.
//
// The cosine of two of them, wherever this library computes it: products of float32 values, exact
// in double, summed in double in a fixed order (eight interleaved partial sums), divided by the
// product of the two lengths and clamped to [-1, 1]. The same bits on every processor, for any
// number of threads and in either order of the two.
class EmbeddingRows {
 public:
  // Throws std::invalid_argument where dim is not in [1, 2^20], where the values are not a whole
  // number of rows, and for 2^31 rows or more.
  EmbeddingRows(std::span<const float> values, std::int64_t dim, const Job& job = {});

  std::int64_t size() const { return static_cast<std::int64_t>(lengths_.size()); }
  std::int64_t dim() const { return dim_; }
  const float* data() const { return values_.data(); }
  std::span<const float> row(std::int64_t i) const {
    return values_.subspan(static_cast<std::size_t>(i * dim_), static_cast<std::size_t>(dim_));
  }
  // Rows first to first + count - 1, a view of the same values. Throws std::out_of_range.
  EmbeddingRows slice(std::int64_t first, std::int64_t count) const;
  // Euclidean; 0 for a zero vector, NaN for one that holds a value that is not finite.
  double length(std::int64_t i) const { return lengths_[static_cast<std::size_t>(i)]; }
  std::span<const double> lengths() const { return lengths_; }

  // Throws Error, naming the first such row, where a vector has no direction: zero or not finite.
  void require_directions() const;

 private:
  EmbeddingRows() = default;

  std::span<const float> values_;
  std::int64_t dim_ = 0;
  std::vector<double> lengths_;
};

// The cosine from a dot product and the product of two lengths.
inline double cosine_of(double dot, double lengths) {
  const double cosine = dot / lengths;
  return cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
}

}  // namespace facebench
