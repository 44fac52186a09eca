#include "facebench/metrics/embedding_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/metrics/internal/dot_kernels.h"

namespace facebench {
namespace {

constexpr std::int64_t kMaxDim = 1 << 20;
constexpr std::int64_t kBlock = 256;

}  // namespace

EmbeddingRows::EmbeddingRows(std::span<const float> values, std::int64_t dim, const Job& job)
    : values_(values), dim_(dim) {
  if (dim < 1 || dim > kMaxDim)
    throw std::invalid_argument(
        fmt::format("embeddings of dimension {}; it must lie in [1, {}]", dim, kMaxDim));
  const auto count = static_cast<std::int64_t>(values.size());
  if (count % dim != 0)
    throw std::invalid_argument(
        fmt::format("{} values are not a whole number of embeddings of {}", count, dim));
  if (count / dim > std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument(fmt::format("{} embeddings are more than 2^31 - 1", count / dim));
  const std::int64_t rows = count / dim;
  lengths_.resize(static_cast<std::size_t>(rows));
  const DotKernels& kernels = dot_kernels();
  parallel_for((rows + kBlock - 1) / kBlock, job, [&](std::int64_t block, int) {
    const std::int64_t begin = block * kBlock, n = std::min(kBlock, rows - begin);
    const float* first = values_.data() + begin * dim_;
    int index[kBlock];
    std::iota(index, index + n, 0);
    double* out = lengths_.data() + begin;
    kernels.listed(first, first, dim_, index, index, n, out);
    // Squares of float32 values cannot overflow a double, so a sum that is not finite means a value
    // that is not.
    for (std::int64_t i = 0; i < n; ++i)
      out[i] = std::isfinite(out[i]) ? std::sqrt(out[i]) : std::numeric_limits<double>::quiet_NaN();
  });
}

EmbeddingRows EmbeddingRows::slice(std::int64_t first, std::int64_t count) const {
  if (first < 0 || count < 0 || first > size() - count)
    throw std::out_of_range(
        fmt::format("embeddings {} to {} among {}", first, first + count, size()));
  EmbeddingRows some;
  some.values_ = values_.subspan(static_cast<std::size_t>(first * dim_),
                                 static_cast<std::size_t>(count * dim_));
  some.dim_ = dim_;
  some.lengths_.assign(lengths_.begin() + first, lengths_.begin() + first + count);
  return some;
}

void EmbeddingRows::require_directions() const {
  for (std::int64_t i = 0; i < size(); ++i)
    if (!(length(i) > 0))
      fail(fmt::format("embedding in row {}", i),
           length(i) == 0 ? "is zero and has no direction" : "holds a value that is not finite",
           "Leave out what could not be enrolled.");
}

}  // namespace facebench
