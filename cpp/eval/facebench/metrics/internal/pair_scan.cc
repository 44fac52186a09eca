#include "facebench/metrics/internal/pair_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>

#include "facebench/metrics/internal/cosines.h"
#include "facebench/metrics/internal/pair_panels.h"

namespace facebench {
namespace {

// The part of the second-level cache for the rows that a worker packs. They stay there while the
// columns are processed panel by panel; one panel of columns stays in the first-level cache.
constexpr std::int64_t kRowBytes = 576 << 10;
constexpr std::int64_t kMostRowPanels = 64;
// Tiles of one task: some milliseconds of work, so that a stop is noticed soon.
constexpr std::int64_t kTaskTiles = 1 << 15;
// Pairs that are scored in double together.
constexpr std::size_t kBatch = 1 << 14;
constexpr std::align_val_t kCacheLine{64};

// Memory for packed vectors, aligned and not set to zero: the thread that fills a page touches it
// first.
class PanelMemory {
 public:
  explicit PanelMemory(std::int64_t groups)
      : data_(static_cast<std::uint32_t*>(::operator new(
            static_cast<std::size_t>(groups) * sizeof(std::uint32_t), kCacheLine))) {}
  ~PanelMemory() { ::operator delete(data_, kCacheLine); }
  PanelMemory(const PanelMemory&) = delete;
  PanelMemory& operator=(const PanelMemory&) = delete;
  std::uint32_t* data() const { return data_; }

 private:
  std::uint32_t* data_;
};

// Greatest float at or below the value.
float rounded_down(double value) {
  const auto nearest = static_cast<float>(value);
  return nearest > value ? std::nextafter(nearest, -std::numeric_limits<float>::infinity())
                         : nearest;
}

class Scanner {
 public:
  Scanner(const PairSide& rows, const PairSide& columns, bool triangle, PairSink& sink,
          std::vector<std::int64_t>& counted)
      : rows_(rows),
        columns_(columns),
        triangle_(triangle),
        sink_(sink),
        counted_(counted),
        dim_(rows.set->dim()),
        groups_(panel_groups(kernels_, dim_)),
        row_panels_(
            std::clamp<std::int64_t>(kRowBytes / (kernels_.rows * groups_ * 4), 1, kMostRowPanels)),
        strip_panels_(kTaskTiles / row_panels_),
        column_panels_((columns_count() + kernels_.columns - 1) / kernels_.columns),
        packed_columns_(column_panels_ * kernels_.columns * groups_) {}

  double run(const Shard& shard, const Job& job) {
    pack_columns(job);
    list_tasks(shard);
    workers_.clear();
    for (int w = 0; w < job.workers(); ++w) workers_.push_back(std::make_unique<Worker>(*this));
    {
      Stage stage(job, "score all pairs", static_cast<std::int64_t>(tasks_.size()), "blocks");
      parallel_for(
          static_cast<std::int64_t>(tasks_.size()), job,
          [&](std::int64_t i, int w) {
            work(tasks_[static_cast<std::size_t>(i)], *workers_[static_cast<std::size_t>(w)]);
          },
          &stage);
    }
    double margin = 0;
    for (const auto& worker : workers_) {
      margin = std::max(margin, worker->widest_margin);
      for (std::size_t k = 0; k < counted_.size(); ++k) counted_[k] += worker->counted[k];
    }
    return margin;
  }

 private:
  // One block of rows with one strip of columns.
  struct Task {
    std::int32_t row_block;
    std::int32_t strip;
  };

  struct Worker {
    explicit Worker(const Scanner& s)
        : rows(s.row_panels_ * s.kernels_.rows * s.groups_),
          scores(s.kernels_.rows * s.kernels_.columns),
          where(static_cast<std::size_t>(s.kernels_.rows * s.kernels_.columns)),
          counts(s.counted_.size()),
          counted(s.counted_.size()) {}
    PanelMemory rows;
    std::int64_t row_block = -1;  // what `rows` holds
    double margin = 0;            // with these rows
    double widest_margin = 0;
    PanelMemory scores;  // of a tile, as float
    std::vector<unsigned short> where;
    std::vector<unsigned> counts;  // of one task
    std::vector<std::int64_t> counted;
    std::vector<std::int32_t> first, second;  // pairs to be scored in double
    std::vector<double> exact;
    std::vector<ScoredPair> above;
  };

  // Positions [begin, end) in the order of a side that a panel holds.
  struct Panel {
    std::int64_t begin, end;
    const std::uint32_t* data;
  };

  std::int64_t rows_count() const { return static_cast<std::int64_t>(rows_.order.size()); }
  std::int64_t columns_count() const { return static_cast<std::int64_t>(columns_.order.size()); }
  std::int64_t block_rows() const { return row_panels_ * kernels_.rows; }

  Panel column_panel(std::int64_t p) const {
    return {p * kernels_.columns, std::min(columns_count(), (p + 1) * kernels_.columns),
            packed_columns_.data() + p * kernels_.columns * groups_};
  }
  Panel row_panel(const Worker& worker, std::int64_t p) const {
    const std::int64_t begin = worker.row_block * block_rows() + p * kernels_.rows;
    return {begin, std::min(rows_count(), begin + kernels_.rows),
            worker.rows.data() + p * kernels_.rows * groups_};
  }

  void pack_columns(const Job& job) {
    std::vector<double> distance(static_cast<std::size_t>(column_panels_));
    parallel_for(column_panels_, job, [&](std::int64_t p, int) {
      const Panel panel = column_panel(p);
      distance[static_cast<std::size_t>(p)] = pack_panels(
          *columns_.set,
          std::span(columns_.order)
              .subspan(static_cast<std::size_t>(panel.begin),
                       static_cast<std::size_t>(panel.end - panel.begin)),
          kernels_.columns, kernels_, packed_columns_.data() + p * kernels_.columns * groups_);
    });
    column_distance_ = *std::max_element(distance.begin(), distance.end());
  }

  void list_tasks(const Shard& shard) {
    const std::int64_t blocks = (rows_count() + block_rows() - 1) / block_rows();
    const std::int64_t strips = (column_panels_ + strip_panels_ - 1) / strip_panels_;
    for (std::int64_t b = 0; b < blocks; ++b) {
      // A triangle needs the columns behind the block's first row.
      const std::int64_t first =
          triangle_ ? b * block_rows() / kernels_.columns / strip_panels_ : 0;
      for (std::int64_t s = first; s < strips; ++s)
        tasks_.push_back({static_cast<std::int32_t>(b), static_cast<std::int32_t>(s)});
    }
    const auto [begin, end] = range_of(shard, static_cast<std::int64_t>(tasks_.size()));
    tasks_ = {tasks_.begin() + begin, tasks_.begin() + end};
  }

  void pack_rows(std::int64_t block, Worker& worker) const {
    const std::int64_t begin = block * block_rows();
    const std::int64_t end = std::min(rows_count(), begin + block_rows());
    const double distance = pack_panels(
        *rows_.set,
        std::span(rows_.order)
            .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
        kernels_.rows, kernels_, worker.rows.data());
    worker.row_block = block;
    worker.margin = filter_margin(distance, column_distance_, dim_);
    worker.widest_margin = std::max(worker.widest_margin, worker.margin);
  }

  void work(const Task& task, Worker& worker) {
    if (worker.row_block != task.row_block) pack_rows(task.row_block, worker);
    const std::int64_t begin = task.strip * strip_panels_;
    const std::int64_t end = std::min(column_panels_, begin + strip_panels_);
    const std::int64_t row_panels =
        (std::min(rows_count() - worker.row_block * block_rows(), block_rows()) + kernels_.rows -
         1) /
        kernels_.rows;
    for (std::int64_t p = begin; p < end; ++p) {
      const Panel column = column_panel(p);
      for (std::int64_t r = 0; r < row_panels; ++r) {
        fetch_part_of_next(column, r, row_panels);
        score(row_panel(worker, r), column, worker);
      }
    }
    score_exactly(worker);
    for (std::size_t k = 0; k < worker.counts.size(); ++k) worker.counted[k] += worker.counts[k];
    std::fill(worker.counts.begin(), worker.counts.end(), 0u);
  }

  // Of the panel of columns behind this one, into the second-level cache while this one works.
  void fetch_part_of_next(const Panel& column, std::int64_t part, std::int64_t parts) const {
    constexpr std::int64_t line = 64 / sizeof(std::uint32_t);
    const std::int64_t size = kernels_.columns * groups_;
    const std::uint32_t* next = column.data + size;
    if (next >= packed_columns_.data() + column_panels_ * size) return;
    for (std::int64_t k = size * part / parts / line; k < size * (part + 1) / parts / line; ++k)
      __builtin_prefetch(next + k * line, 0, 2);
  }

  void score(const Panel& row, const Panel& column, Worker& worker) {
    if (triangle_ && column.end - 1 <= row.begin) return;
    auto* scores = reinterpret_cast<float*>(worker.scores.data());
    kernels_.tile(row.data, column.data, groups_, scores);
    const float bound = rounded_down(sink_.bound() - worker.margin);
    const auto identity = [](const PairSide& side, std::int64_t position) {
      return side.identity[static_cast<std::size_t>(position)];
    };
    const bool whole = row.end - row.begin == kernels_.rows &&
                       column.end - column.begin == kernels_.columns &&
                       !(triangle_ && column.begin < row.end);
    const bool impostors_only = identity(rows_, row.begin) > identity(columns_, column.end - 1) ||
                                identity(rows_, row.end - 1) < identity(columns_, column.begin);
    const int count = kernels_.rows * kernels_.columns;
    if (whole && impostors_only) {
      const int above = kernels_.above(scores, count, bound, worker.where.data());
      for (int k = 0; k < above; ++k)
        remember(row.begin + worker.where[static_cast<std::size_t>(k)] / kernels_.columns,
                 column.begin + worker.where[static_cast<std::size_t>(k)] % kernels_.columns,
                 worker);
      if (!worker.counts.empty()) tally(scores, count, worker);
      return;
    }
    for (std::int64_t i = row.begin; i < row.end; ++i)
      for (std::int64_t j = column.begin; j < column.end; ++j) {
        if ((triangle_ && j <= i) || identity(rows_, i) == identity(columns_, j)) continue;
        const float* s = scores + (i - row.begin) * kernels_.columns + (j - column.begin);
        if (*s >= bound) remember(i, j, worker);
        if (worker.counts.empty()) continue;
        const double bin =
            (static_cast<double>(*s) + 1) * static_cast<double>(worker.counts.size()) / 2;
        ++worker.counts[static_cast<std::size_t>(
            std::clamp(bin, 0.0, static_cast<double>(worker.counts.size() - 1)))];
      }
  }

  void tally(const float* scores, int count, Worker& worker) const {
    const auto bins = static_cast<int>(worker.counts.size());
    const float scale = static_cast<float>(bins) / 2;
    kernels_.tally(scores, count, scale, scale, bins, worker.counts.data());
  }

  void remember(std::int64_t row, std::int64_t column, Worker& worker) {
    worker.first.push_back(rows_.order[static_cast<std::size_t>(row)]);
    worker.second.push_back(columns_.order[static_cast<std::size_t>(column)]);
    if (worker.first.size() >= kBatch) score_exactly(worker);
  }

  void score_exactly(Worker& worker) {
    worker.exact.resize(worker.first.size());
    cosines(*rows_.set, *columns_.set, worker.first, worker.second, worker.exact.data());
    const double bound = sink_.bound();
    worker.above.clear();
    for (std::size_t k = 0; k < worker.exact.size(); ++k) {
      if (worker.exact[k] < bound) continue;
      const std::int32_t i = worker.first[k], j = worker.second[k];
      worker.above.push_back(
          {worker.exact[k], triangle_ ? std::min(i, j) : i, triangle_ ? std::max(i, j) : j});
    }
    worker.first.clear();
    worker.second.clear();
    sink_.add(worker.above);
  }

  const FilterKernels& kernels_ = filter_kernels();
  const PairSide& rows_;
  const PairSide& columns_;
  const bool triangle_;
  PairSink& sink_;
  std::vector<std::int64_t>& counted_;
  const std::int64_t dim_;
  const std::int64_t groups_;
  const std::int64_t row_panels_, strip_panels_;  // of a task
  const std::int64_t column_panels_;
  PanelMemory packed_columns_;
  double column_distance_ = 0;
  std::vector<Task> tasks_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

double scan_pairs(const PairSide& rows, const PairSide& columns, bool triangle, const Shard& shard,
                  PairSink& sink, std::vector<std::int64_t>& counted, const Job& job) {
  return Scanner(rows, columns, triangle, sink, counted).run(shard, job);
}

}  // namespace facebench
