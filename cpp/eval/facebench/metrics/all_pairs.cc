#include "facebench/metrics/all_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "facebench/core/error.h"
#include "facebench/core/isa.h"
#include "facebench/core/options.h"
#include "facebench/core/random.h"
#include "facebench/metrics/internal/cosines.h"
#include "facebench/metrics/internal/pair_scan.h"
#include "facebench/metrics/internal/tail_collector.h"

namespace facebench {
namespace {

constexpr std::int64_t kMaxTail = 20'000'000;
constexpr std::int64_t kMaxGenuine = 50'000'000;
constexpr double kNoBound = -std::numeric_limits<double>::infinity();

PairSide by_identity(const EmbeddingRows& set, std::span<const std::int32_t> identities) {
  if (static_cast<std::int64_t>(identities.size()) != set.size())
    throw std::invalid_argument(
        fmt::format("{} identities of {} embeddings", identities.size(), set.size()));
  set.require_directions();
  PairSide side{&set, std::vector<std::int32_t>(identities.size()), {}};
  std::iota(side.order.begin(), side.order.end(), 0);
  std::stable_sort(side.order.begin(), side.order.end(), [&](std::int32_t a, std::int32_t b) {
    return identities[static_cast<std::size_t>(a)] < identities[static_cast<std::size_t>(b)];
  });
  for (const std::int32_t i : side.order)
    side.identity.push_back(identities[static_cast<std::size_t>(i)]);
  return side;
}

// The columns that each row is a genuine comparison with: positions [begin, end) in the order of
// the columns, and how many genuine comparisons there are in the rows before it.
struct GenuineRuns {
  std::vector<std::int64_t> begin, end, before;
};

GenuineRuns genuine_runs(const PairSide& rows, const PairSide& columns, bool triangle) {
  GenuineRuns runs;
  runs.before.push_back(0);
  for (std::size_t p = 0; p < rows.order.size(); ++p) {
    const auto [first, last] =
        std::equal_range(columns.identity.begin(), columns.identity.end(), rows.identity[p]);
    auto begin = static_cast<std::int64_t>(first - columns.identity.begin());
    if (triangle) begin = static_cast<std::int64_t>(p) + 1;
    runs.begin.push_back(begin);
    runs.end.push_back(last - columns.identity.begin());
    runs.before.push_back(runs.before.back() + runs.end.back() - begin);
  }
  return runs;
}

void list_genuine(std::vector<TailCollector::Entry> all, ScoreTail& tail) {
  std::ranges::sort(all, TailCollector::before);
  for (const TailCollector::Entry& entry : all) {
    tail.genuine.push_back(entry.score);
    tail.genuine_row.push_back(entry.row);
    tail.genuine_column.push_back(entry.column);
  }
}

void score_genuine(const PairSide& rows, const PairSide& columns, bool triangle,
                   const GenuineRuns& runs, const Shard& shard, ScoreTail& tail, const Job& job) {
  constexpr std::int64_t kChunk = 1 << 14;
  const auto [start, stop] = range_of(shard, runs.before.back());
  const std::int64_t chunks = (stop - start + kChunk - 1) / kChunk;
  std::vector<TailCollector::Entry> all(static_cast<std::size_t>(stop - start));
  Stage stage(job, "score genuine pairs", chunks, "blocks");
  parallel_for(
      chunks, job,
      [&](std::int64_t chunk, int) {
        const std::int64_t begin = start + chunk * kChunk, end = std::min(stop, begin + kChunk);
        std::vector<std::int32_t> first, second;
        auto row = static_cast<std::size_t>(
            std::upper_bound(runs.before.begin(), runs.before.end(), begin) - runs.before.begin() -
            1);
        for (std::int64_t k = begin; k < end; ++k) {
          while (runs.before[row + 1] <= k) ++row;
          first.push_back(rows.order[row]);
          second.push_back(
              columns.order[static_cast<std::size_t>(runs.begin[row] + k - runs.before[row])]);
        }
        std::vector<double> scores(first.size());
        cosines(*rows.set, *columns.set, first, second, scores.data());
        for (std::size_t k = 0; k < scores.size(); ++k) {
          if (triangle && first[k] > second[k]) std::swap(first[k], second[k]);
          all[static_cast<std::size_t>(begin - start) + k] = {scores[k], first[k], second[k]};
        }
      },
      &stage);
  list_genuine(std::move(all), tail);
}

// A score that about `wanted` impostor comparisons, and very likely not fewer, exceed, estimated
// from a random sample, the same for all shards. It affects the time of the search, not its result.
double guessed_bound(const PairSide& rows, const PairSide& columns, bool triangle,
                     std::int64_t impostors, std::int64_t wanted, int shards, const Job& job) {
  const std::int64_t sample = std::min<std::int64_t>(impostors / 8000, 1 << 18);
  const double share = static_cast<double>(wanted) / static_cast<double>(impostors);
  const double expected = share * static_cast<double>(sample);
  const auto rank = static_cast<std::int64_t>(expected + 5 * std::sqrt(expected) + 12);
  if (rank > sample / 4) return kNoBound;
  Random random(static_cast<std::uint64_t>(shards - 1), "all_pairs.sample");
  std::vector<std::int32_t> first, second;
  while (static_cast<std::int64_t>(first.size()) < sample) {
    const auto i = static_cast<std::size_t>(random.below(rows.order.size()));
    const auto j = static_cast<std::size_t>(random.below(columns.order.size()));
    if ((triangle && i == j) || rows.identity[i] == columns.identity[j]) continue;
    first.push_back(rows.order[i]);
    second.push_back(columns.order[j]);
  }
  std::vector<double> scores(first.size());
  constexpr std::int64_t kChunk = 1 << 14;
  parallel_for((sample + kChunk - 1) / kChunk, job, [&](std::int64_t chunk, int) {
    const auto begin = static_cast<std::size_t>(chunk * kChunk);
    const auto n = std::min<std::size_t>(kChunk, first.size() - begin);
    cosines(*rows.set, *columns.set, std::span(first).subspan(begin, n),
            std::span(second).subspan(begin, n), scores.data() + begin);
  });
  std::nth_element(scores.begin(), scores.begin() + (rank - 1), scores.end(),
                   std::greater<double>());
  return scores[static_cast<std::size_t>(rank - 1)];
}

std::size_t bin_of(const std::vector<double>& edges, double score) {
  const auto above = std::upper_bound(edges.begin(), edges.end(), score) - edges.begin();
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(above - 1, 0, static_cast<std::int64_t>(edges.size()) - 2));
}

// The histogram out of what low precision counted: the bins of the tail are counted again from its
// exact scores, and the one that the tail ends in makes up the total.
void finish_histogram(ScoreTail& tail, std::vector<std::int64_t> counted) {
  const auto bins = counted.size();
  ScoreHistogram& h = tail.histogram;
  h.edges.resize(bins + 1);
  for (std::size_t k = 0; k <= bins; ++k)
    h.edges[k] = -1 + 2 * static_cast<double>(k) / static_cast<double>(bins);
  h.genuine.assign(bins, 0);
  for (const double score : tail.genuine) ++h.genuine[bin_of(h.edges, score)];
  h.impostor = std::move(counted);
  if (tail.impostor.empty()) return;
  const std::size_t last = bin_of(h.edges, tail.impostor.back());
  std::fill(h.impostor.begin() + static_cast<std::ptrdiff_t>(last), h.impostor.end(), 0);
  std::int64_t above = 0;
  for (const double score : tail.impostor) {
    const std::size_t bin = bin_of(h.edges, score);
    if (bin == last) break;
    ++h.impostor[bin];
    ++above;
  }
  std::int64_t rest = tail.impostor_count - above;
  // Low precision may have counted a few of the tail's below it.
  for (std::size_t k = 0; k < last; ++k) {
    h.impostor[k] = std::min(h.impostor[k], rest);
    rest -= h.impostor[k];
  }
  h.impostor[last] = rest;
}

// What a shard finds: genuine scores in `tail`, impostors in the collector.
struct ShardScores {
  ScoreTail tail;
  std::int64_t wanted = 0;
  std::unique_ptr<TailCollector> collector;
  std::vector<std::int64_t> counted;
};

ShardScores search(const PairSide& rows, const PairSide& columns, bool triangle,
                   const AllPairsOptions& options, const Shard& shard, const Job& job) {
  check_options(options);
  check_shard(shard);
  if (rows.set->dim() != columns.set->dim())
    throw std::invalid_argument(fmt::format("embeddings of dimension {} cannot be compared with {}",
                                            rows.set->dim(), columns.set->dim()));
  const auto n = static_cast<std::int64_t>(rows.order.size());
  const auto m = static_cast<std::int64_t>(columns.order.size());
  const std::int64_t comparisons = triangle ? n * (n - 1) / 2 : n * m;
  if (comparisons == 0) throw std::invalid_argument("no comparisons");
  const GenuineRuns runs = genuine_runs(rows, columns, triangle);
  const std::int64_t genuine = runs.before.back();
  if (genuine > kMaxGenuine)
    fail("all pairs",
         fmt::format("{} genuine comparisons are more than the {} whose scores can be kept",
                     genuine, kMaxGenuine),
         "Take fewer images of each person.");
  ShardScores scores;
  ScoreTail& tail = scores.tail;
  tail.impostor_count = comparisons - genuine;
  scores.wanted =
      std::min(allowed_false_accepts(options.far, tail.impostor_count) + 1, tail.impostor_count);
  if (scores.wanted > kMaxTail)
    throw std::invalid_argument(fmt::format(
        "a FAR of {} of {} impostor comparisons needs the {} highest scores; at most {} "
        "are kept: choose a lower far",
        options.far, tail.impostor_count, scores.wanted, kMaxTail));
  score_genuine(rows, columns, triangle, runs, shard, tail, job);
  scores.counted.resize(static_cast<std::size_t>(options.bins));
  double bound = kNoBound;
  if (scores.wanted > 0)
    bound = guessed_bound(rows, columns, triangle, tail.impostor_count, scores.wanted, shard.count,
                          job);
  while (true) {
    scores.collector = std::make_unique<TailCollector>(scores.wanted, bound);
    if (scores.wanted > 0)
      tail.histogram_blur =
          scan_pairs(rows, columns, triangle, shard, *scores.collector, scores.counted, job);
    // A shard alone cannot know whether all of them find enough.
    if (shard.count > 1 || scores.collector->complete()) return scores;
    // The sample was misleading (less often than once in a million): search without it.
    bound = kNoBound;
    std::ranges::fill(scores.counted, 0);
  }
}

ScoreTail finish(ShardScores scores) {
  ScoreTail& tail = scores.tail;
  scores.collector->finish(tail);
  if (scores.counted.empty())
    tail.histogram_blur = 0;
  else
    finish_histogram(tail, std::move(scores.counted));
  return std::move(tail);
}

// Of a shard from elsewhere what nothing else finds out, so that sizes and sums are in proportion.
void check(const AllPairsShard& shard) {
  const ScoreTail& tail = shard.tail;
  const auto refuse = [&](std::string_view why) {
    throw std::invalid_argument(fmt::format("shard {} of {}: {}", shard.number, shard.count, why));
  };
  const auto above = static_cast<std::int64_t>(tail.impostor.size());
  if (shard.wanted < 0 || shard.wanted > kMaxTail || shard.wanted > tail.impostor_count ||
      tail.impostor_reach < above || tail.impostor_reach > tail.impostor_count)
    refuse("its counts contradict each other");
  if (!(shard.bound <= 1) || (tail.impostor_reach > above && !(shard.bound >= -1)))
    refuse("its bound is not a score");
  for (const auto* scores : {&tail.genuine, &tail.impostor})
    if (!std::ranges::all_of(*scores, [](double s) { return s >= -1 && s <= 1; }))
      refuse("it holds a score outside of [-1, 1]");
  for (const std::int64_t count : tail.histogram.impostor)
    if (count < 0 || count > tail.impostor_count) refuse("its histogram is damaged");
  if (tail.genuine_row.size() != tail.genuine.size() ||
      tail.genuine_column.size() != tail.genuine.size() ||
      tail.impostor_row.size() != tail.impostor.size() ||
      tail.impostor_column.size() != tail.impostor.size())
    refuse("its scores do not say what was compared");
}

AllPairsShard as_shard(const Shard& shard, ShardScores scores) {
  AllPairsShard part{shard.number,
                     shard.count,
                     std::string(isa_name(active_isa())),
                     scores.wanted,
                     scores.collector->bound(),
                     std::move(scores.tail)};
  scores.collector->list_above(part.tail);
  part.tail.histogram.impostor = std::move(scores.counted);
  return part;
}

void swap_sides(ScoreTail& tail) {
  std::swap(tail.genuine_row, tail.genuine_column);
  std::swap(tail.impostor_row, tail.impostor_column);
}
void swap_sides(AllPairsShard& shard) { swap_sides(shard.tail); }

// What finish() makes of a search. The columns are packed as a whole, so the smaller set becomes
// the columns; the result calls the two sides as the caller does.
template <class Finish>
auto of_two(const PairSide& rows, const PairSide& columns, const AllPairsOptions& options,
            const Shard& shard, const Job& job, const Finish& finish) {
  if (rows.set->size() >= columns.set->size())
    return finish(search(rows, columns, false, options, shard, job));
  auto result = finish(search(columns, rows, false, options, shard, job));
  swap_sides(result);
  return result;
}

}  // namespace

void AllPairsOptions::describe(OptionsBuilder<AllPairsOptions>& o) {
  o.name("AllPairsOptions", "What is kept of the scores of all pairs.");
  o.field("far", &AllPairsOptions::far,
          "highest FAR at which the TAR can be told exactly; the kept tail grows with it", 0, 1);
  o.field("bins", &AllPairsOptions::bins,
          "bins of the histogram of all scores; 0 = none, which is faster", 0, 65536);
}

ScoreTail all_pairs(const EmbeddingRows& rows, std::span<const std::int32_t> row_identities,
                    const EmbeddingRows& columns, std::span<const std::int32_t> column_identities,
                    const AllPairsOptions& options, const Job& job) {
  const PairSide r = by_identity(rows, row_identities);
  const PairSide c = by_identity(columns, column_identities);
  return of_two(r, c, options, {}, job, finish);
}

ScoreTail all_pairs(const EmbeddingRows& rows, std::span<const std::int32_t> identities,
                    const AllPairsOptions& options, const Job& job) {
  const PairSide side = by_identity(rows, identities);
  return finish(search(side, side, true, options, {}, job));
}

AllPairsShard all_pairs_shard(const EmbeddingRows& rows,
                              std::span<const std::int32_t> row_identities,
                              const EmbeddingRows& columns,
                              std::span<const std::int32_t> column_identities, const Shard& shard,
                              const AllPairsOptions& options, const Job& job) {
  const PairSide r = by_identity(rows, row_identities);
  const PairSide c = by_identity(columns, column_identities);
  return of_two(r, c, options, shard, job,
                [&](ShardScores scores) { return as_shard(shard, std::move(scores)); });
}

AllPairsShard all_pairs_shard(const EmbeddingRows& rows, std::span<const std::int32_t> identities,
                              const Shard& shard, const AllPairsOptions& options, const Job& job) {
  const PairSide side = by_identity(rows, identities);
  return as_shard(shard, search(side, side, true, options, shard, job));
}

ScoreTail merge_all_pairs(std::vector<AllPairsShard> shards) {
  std::vector<Shard> places;
  for (const AllPairsShard& shard : shards) places.push_back({shard.number, shard.count});
  check_all_shards(places);
  const AllPairsShard& first = shards[0];
  double bound = kNoBound;
  std::int64_t equal = 0;
  for (const AllPairsShard& shard : shards) {
    check(shard);
    const ScoreTail& tail = shard.tail;
    if (shard.isa != first.isa)
      throw std::invalid_argument(fmt::format(
          "shard {} was scored with {}, shard {} with {}: FACEBENCH_ISA makes them alike",
          first.number, first.isa, shard.number, shard.isa));
    if (shard.wanted != first.wanted || tail.impostor_count != first.tail.impostor_count ||
        tail.histogram.impostor.size() != first.tail.histogram.impostor.size())
      throw std::invalid_argument(
          fmt::format("shards {} and {} are of different embeddings, or were made with different "
                      "options",
                      first.number, shard.number));
    const auto above = static_cast<std::int64_t>(tail.impostor.size());
    if (shard.bound > bound) equal = 0;
    bound = std::max(bound, shard.bound);
    if (shard.bound == bound) equal += tail.impostor_reach - above;
  }
  ShardScores whole;
  whole.wanted = first.wanted;
  whole.tail.impostor_count = first.tail.impostor_count;
  whole.counted.resize(first.tail.histogram.impostor.size());
  whole.collector = std::make_unique<TailCollector>(whole.wanted, bound, equal);
  std::vector<TailCollector::Entry> genuine;
  const auto entries = [](const std::vector<double>& scores, const std::vector<std::int32_t>& rows,
                          const std::vector<std::int32_t>& columns,
                          std::vector<TailCollector::Entry>& list) {
    for (std::size_t k = 0; k < scores.size(); ++k)
      list.push_back({scores[k], rows[k], columns[k]});
  };
  for (AllPairsShard& shard : shards) {
    ScoreTail& tail = shard.tail;
    std::vector<TailCollector::Entry> impostors;
    entries(tail.genuine, tail.genuine_row, tail.genuine_column, genuine);
    entries(tail.impostor, tail.impostor_row, tail.impostor_column, impostors);
    whole.collector->add(impostors);
    for (std::size_t k = 0; k < whole.counted.size(); ++k)
      whole.counted[k] += tail.histogram.impostor[k];
    whole.tail.histogram_blur = std::max(whole.tail.histogram_blur, tail.histogram_blur);
    tail = {};
  }
  if (!whole.collector->complete())
    fail("all pairs",
         fmt::format("the {} shards found too few high scores: the sample that told them what is "
                     "high was misleading",
                     shards.size()),
         "Another number of shards takes another sample.");
  list_genuine(std::move(genuine), whole.tail);
  return finish(std::move(whole));
}

}  // namespace facebench
