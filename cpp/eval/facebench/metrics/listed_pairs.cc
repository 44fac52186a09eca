#include "facebench/metrics/listed_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/metrics/internal/cosines.h"
#include "facebench/metrics/internal/dot_kernels.h"

namespace facebench {
namespace {

// Pairs of one task: enough that rows repeat within it if there are few rows, few enough that a
// stop is noticed soon.
constexpr std::int64_t kLeastPairs = 4096;
constexpr std::int64_t kMostPairs = 1 << 21;
// Cache memory for the columns while all rows are processed.
constexpr std::int64_t kColumnBytes = 2 << 20;
// A block of this many rows in double and one of as many columns stay in the second-level cache.
constexpr std::int64_t kDenseRows = 64;
constexpr std::int64_t kDenseColumns = 64;
constexpr std::int64_t kDenseStrip = 2048;  // columns of one task

void check_dimensions(const EmbeddingRows& rows, const EmbeddingRows& columns) {
  if (rows.dim() != columns.dim())
    throw std::invalid_argument(fmt::format("embeddings of dimension {} cannot be compared with {}",
                                            rows.dim(), columns.dim()));
}

void check_index(std::int32_t index, const EmbeddingRows& set, std::int64_t pair) {
  if (index < 0 || index >= set.size())
    throw std::out_of_range(
        fmt::format("pair [{}] names row {} of {} embeddings", pair, index, set.size()));
}

void check_direction(std::int32_t index, const EmbeddingRows& set, std::int64_t pair) {
  const double length = set.length(index);
  if (!(length > 0))
    fail(fmt::format("embedding in row {}, which pair [{}] names", index, pair),
         length == 0 ? "is zero and has no direction" : "holds a value that is not finite",
         "Leave out what could not be enrolled.");
}

// Vectors `begin` to `end` in double, padded with zeros to `stride`.
void widen(const EmbeddingRows& set, std::int64_t begin, std::int64_t end, std::int64_t stride,
           std::vector<double>& out) {
  out.assign(static_cast<std::size_t>((end - begin) * stride), 0.0);
  for (std::int64_t i = begin; i < end; ++i) {
    const auto row = set.row(i);
    std::copy(row.begin(), row.end(), out.begin() + (i - begin) * stride);
  }
}

// Pairs in an order in which a vector is still in the cache when it is needed again: by blocks of
// columns, within them by rows.
class PairOrder {
 public:
  // Whether sorting is worthwhile: rows repeat, and the list is not in such an order already.
  static bool helps(std::span<const std::int32_t> pair_first, const EmbeddingRows& rows,
                    const EmbeddingRows& columns) {
    const auto n = static_cast<std::int64_t>(pair_first.size());
    return n >= 2 * rows.size() && (column_blocks(n, rows, columns) > 1 ||
                                    !std::is_sorted(pair_first.begin(), pair_first.end()));
  }

  void arrange(std::span<const std::int32_t> pair_first, std::span<const std::int32_t> pair_second,
               const EmbeddingRows& rows, const EmbeddingRows& columns) {
    const std::int64_t blocks =
        column_blocks(static_cast<std::int64_t>(pair_first.size()), rows, columns);
    const std::int64_t width = (columns.size() + blocks - 1) / blocks;
    const auto key = [&](std::size_t k) {
      const std::int64_t block = blocks == 1 ? 0 : pair_second[k] / width;
      return static_cast<std::size_t>(block * rows.size() + pair_first[k]);
    };
    begin_.assign(static_cast<std::size_t>(blocks * rows.size()) + 1, 0);
    for (std::size_t k = 0; k < pair_first.size(); ++k) ++begin_[key(k) + 1];
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    first.resize(pair_first.size());
    second.resize(pair_first.size());
    position.resize(pair_first.size());
    for (std::size_t k = 0; k < pair_first.size(); ++k) {
      const std::size_t at = begin_[key(k)]++;
      first[at] = pair_first[k];
      second[at] = pair_second[k];
      position[at] = static_cast<std::uint32_t>(k);
    }
  }

  std::vector<std::int32_t> first, second;
  std::vector<std::uint32_t> position;  // of each in the list
  std::vector<double> scores;

 private:
  // As many blocks as still give each row several pairs in each.
  static std::int64_t column_blocks(std::int64_t pairs, const EmbeddingRows& rows,
                                    const EmbeddingRows& columns) {
    const std::int64_t wanted = columns.size() * columns.dim() * 4 / kColumnBytes + 1;
    return std::clamp<std::int64_t>(pairs / (4 * rows.size()), 1, wanted);
  }

  std::vector<std::uint32_t> begin_;
};

}  // namespace

void cosines(const EmbeddingRows& rows, const EmbeddingRows& columns,
             std::span<const std::int32_t> first, std::span<const std::int32_t> second,
             double* scores) {
  dot_kernels().listed(rows.data(), columns.data(), rows.dim(), first.data(), second.data(),
                       static_cast<long>(first.size()), scores);
  for (std::size_t i = 0; i < first.size(); ++i)
    scores[i] = cosine_of(scores[i], rows.length(first[i]) * columns.length(second[i]));
}

void listed_pair_scores(const EmbeddingRows& rows, const EmbeddingRows& columns,
                        std::span<const std::int32_t> first, std::span<const std::int32_t> second,
                        std::span<double> scores, const Job& job) {
  check_dimensions(rows, columns);
  if (first.size() != second.size() || first.size() != scores.size())
    throw std::invalid_argument(fmt::format("{} first and {} second sides of {} pairs",
                                            first.size(), second.size(), scores.size()));
  const auto n = static_cast<std::int64_t>(first.size());
  const int workers = job.workers();
  const std::int64_t size = std::clamp(n / (8 * workers), kLeastPairs, kMostPairs);
  const std::int64_t blocks = (n + size - 1) / size;
  std::vector<PairOrder> orders(static_cast<std::size_t>(workers));
  Stage stage(job, "score pairs", blocks, "blocks");
  parallel_for(
      blocks, job,
      [&](std::int64_t block, int worker) {
        const std::int64_t begin = block * size, end = std::min(n, begin + size);
        for (std::int64_t i = begin; i < end; ++i) {
          check_index(first[i], rows, i);
          check_index(second[i], columns, i);
          check_direction(first[i], rows, i);
          check_direction(second[i], columns, i);
        }
        const auto at = static_cast<std::size_t>(begin);
        const auto a = first.subspan(at, static_cast<std::size_t>(end - begin));
        const auto b = second.subspan(at, a.size());
        if (!PairOrder::helps(a, rows, columns)) {
          cosines(rows, columns, a, b, scores.data() + begin);
          return;
        }
        PairOrder& pair_order = orders[static_cast<std::size_t>(worker)];
        pair_order.arrange(a, b, rows, columns);
        pair_order.scores.resize(a.size());
        cosines(rows, columns, pair_order.first, pair_order.second, pair_order.scores.data());
        for (std::size_t k = 0; k < a.size(); ++k)
          scores[at + pair_order.position[k]] = pair_order.scores[k];
      },
      &stage);
}

std::vector<double> listed_pair_scores(const EmbeddingRows& rows, const EmbeddingRows& columns,
                                       std::span<const std::int32_t> first,
                                       std::span<const std::int32_t> second, const Job& job) {
  std::vector<double> scores(first.size());
  listed_pair_scores(rows, columns, first, second, scores, job);
  return scores;
}

namespace {

template <class Score>
void score_densely(const EmbeddingRows& rows, const EmbeddingRows& columns, std::span<Score> scores,
                   const Job& job) {
  check_dimensions(rows, columns);
  const std::int64_t n = rows.size(), m = columns.size();
  if (static_cast<std::int64_t>(scores.size()) != n * m)
    throw std::invalid_argument(
        fmt::format("{} x {} comparisons but room for {} scores", n, m, scores.size()));
  rows.require_directions();
  columns.require_directions();
  const DotKernels& kernels = dot_kernels();
  const std::int64_t depth = (rows.dim() + 7) / 8 * 8;
  // Vectors a power of two apart would share few lines of the cache.
  const std::int64_t stride = depth + 8;
  const std::int64_t row_blocks = (n + kDenseRows - 1) / kDenseRows;
  const std::int64_t strips = (m + kDenseStrip - 1) / kDenseStrip;
  struct Buffers {
    std::vector<double> rows, columns, dots;
    std::int64_t first_row = -1;
  };
  std::vector<Buffers> buffers(static_cast<std::size_t>(job.workers()));
  Stage stage(job, "score all pairs", row_blocks * strips, "blocks");
  parallel_for(
      row_blocks * strips, job,
      [&](std::int64_t task, int worker) {
        Buffers& buffer = buffers[static_cast<std::size_t>(worker)];
        const std::int64_t r0 = task / strips * kDenseRows, r1 = std::min(n, r0 + kDenseRows);
        if (buffer.first_row != r0) {
          widen(rows, r0, r1, stride, buffer.rows);
          buffer.first_row = r0;
        }
        buffer.dots.resize(kDenseRows * kDenseColumns);
        const std::int64_t begin = task % strips * kDenseStrip;
        const std::int64_t end = std::min(m, begin + kDenseStrip);
        for (std::int64_t c0 = begin; c0 < end; c0 += kDenseColumns) {
          const std::int64_t c1 = std::min(end, c0 + kDenseColumns);
          widen(columns, c0, c1, stride, buffer.columns);
          kernels.block(buffer.rows.data(), r1 - r0, buffer.columns.data(), c1 - c0, depth, stride,
                        buffer.dots.data(), kDenseColumns);
          for (std::int64_t i = r0; i < r1; ++i)
            for (std::int64_t j = c0; j < c1; ++j)
              scores[i * m + j] =
                  static_cast<Score>(cosine_of(buffer.dots[(i - r0) * kDenseColumns + (j - c0)],
                                               rows.length(i) * columns.length(j)));
        }
      },
      &stage);
}

}  // namespace

void dense_scores(const EmbeddingRows& rows, const EmbeddingRows& columns, std::span<float> scores,
                  const Job& job) {
  score_densely(rows, columns, scores, job);
}

void dense_scores(const EmbeddingRows& rows, const EmbeddingRows& columns, std::span<double> scores,
                  const Job& job) {
  score_densely(rows, columns, scores, job);
}

std::vector<float> dense_scores(const EmbeddingRows& rows, const EmbeddingRows& columns,
                                const Job& job) {
  std::vector<float> scores(static_cast<std::size_t>(rows.size() * columns.size()));
  dense_scores(rows, columns, std::span(scores), job);
  return scores;
}

}  // namespace facebench
