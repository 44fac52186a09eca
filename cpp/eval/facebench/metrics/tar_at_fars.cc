#include "facebench/metrics/tar_at_fars.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/score_tail.h"

namespace facebench {
namespace {

constexpr std::int64_t kChunk = 1 << 16;
constexpr std::uint32_t kBins = 1 << 16;

// The bin of a score: sign, exponent and the upper bits of the fraction, so that a higher bin holds
// higher scores and the unit does not matter. -0 and 0 share one.
std::uint32_t bin_of(double score) {
  const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);
  return static_cast<std::uint32_t>((bits >> 63 ? ~bits : bits | (1ull << 63)) >> 48);
}

// Counts of both classes by bin.
struct Counts {
  std::vector<std::int64_t> of[2] = {std::vector<std::int64_t>(kBins),
                                     std::vector<std::int64_t>(kBins)};
};

// What the second pass keeps of a bin.
enum Keep : std::uint8_t { nothing, lowest, everything };

struct Kept {
  std::vector<double> scores[2];
  std::vector<double> lowest;  // by bin
};

// f(begin, end, worker) for blocks of all n.
template <class F>
void in_blocks(std::int64_t n, const Job& job, Stage& stage, F f) {
  parallel_for((n + kChunk - 1) / kChunk, job,
               [&](std::int64_t block, int worker) {
                 f(block * kChunk, std::min(n, (block + 1) * kChunk),
                   static_cast<std::size_t>(worker));
               },
               &stage);
}

template <class Score>
Counts count_by_bin(std::span<const Score> scores, std::span<const std::uint8_t> labels,
                    const Job& job, Stage& stage) {
  std::vector<Counts> counts(static_cast<std::size_t>(job.workers()));
  in_blocks(
      static_cast<std::int64_t>(scores.size()), job, stage,
      [&](std::int64_t begin, std::int64_t end, std::size_t worker) {
        const auto b = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(end - begin);
        std::int64_t* const own[2] = {counts[worker].of[0].data(), counts[worker].of[1].data()};
        for (std::size_t i = b; i < b + n; ++i) {
          check_comparison(i, scores[i], labels[i]);
          ++own[labels[i]][bin_of(scores[i])];
        }
      });
  for (std::size_t w = 1; w < counts.size(); ++w)
    for (int label = 0; label < 2; ++label)
      for (std::size_t k = 0; k < kBins; ++k) counts[0].of[label][k] += counts[w].of[label][k];
  return std::move(counts[0]);
}

template <class Score>
Kept keep_bins(std::span<const Score> scores, std::span<const std::uint8_t> labels,
               const std::vector<Keep>& keep, const Job& job, Stage& stage) {
  const Kept none{{}, std::vector<double>(kBins, std::numeric_limits<double>::infinity())};
  std::vector<Kept> kept(static_cast<std::size_t>(job.workers()), none);
  in_blocks(static_cast<std::int64_t>(scores.size()), job, stage,
            [&](std::int64_t begin, std::int64_t end, std::size_t worker) {
              Kept& of_worker = kept[worker];
              for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end);
                   ++i) {
                const std::uint32_t bin = bin_of(scores[i]);
                if (keep[bin] == nothing) continue;
                if (keep[bin] == everything) of_worker.scores[labels[i]].push_back(scores[i]);
                of_worker.lowest[bin] = std::min<double>(of_worker.lowest[bin], scores[i]);
              }
            });
  for (std::size_t w = 1; w < kept.size(); ++w) {
    for (int label = 0; label < 2; ++label)
      kept[0].scores[label].insert(kept[0].scores[label].end(), kept[w].scores[label].begin(),
                                   kept[w].scores[label].end());
    for (std::size_t k = 0; k < kBins; ++k)
      kept[0].lowest[k] = std::min(kept[0].lowest[k], kept[w].lowest[k]);
  }
  for (auto& list : kept[0].scores) std::sort(list.begin(), list.end());
  return std::move(kept[0]);
}

// Where the threshold of one FAR lies.
struct Place {
  std::int64_t allowed = 0;
  std::uint32_t bin = 0;           // of the first impostor too many
  std::int64_t above[2] = {0, 0};  // comparisons of either class in higher bins
  std::uint32_t next = kBins;      // the lowest higher bin that is not empty
};

Place find_place(const Counts& counts, std::int64_t allowed) {
  Place place;
  place.allowed = allowed;
  std::uint32_t bin = kBins;
  while (bin-- > 0) {
    if (place.above[0] + counts.of[0][bin] > allowed) break;
    if (counts.of[0][bin] + counts.of[1][bin] > 0) place.next = bin;
    for (int label = 0; label < 2; ++label) place.above[label] += counts.of[label][bin];
  }
  place.bin = bin;
  return place;
}

template <class Score>
std::vector<TarAtFar> measure(std::span<const Score> scores, std::span<const std::uint8_t> labels,
                              std::span<const double> fars, const Job& job) {
  for (const double far : fars) check_far(far);
  if (labels.size() != scores.size())
    throw std::invalid_argument(
        fmt::format("{} scores but {} labels", scores.size(), labels.size()));
  const auto blocks = (static_cast<std::int64_t>(scores.size()) + kChunk - 1) / kChunk;
  Stage stage(job, "find thresholds", blocks, "blocks");
  const Counts counts = count_by_bin(scores, labels, job, stage);
  std::int64_t total[2] = {0, 0};
  for (int label = 0; label < 2; ++label)
    for (const std::int64_t c : counts.of[label]) total[label] += c;
  if (total[0] == 0 || total[1] == 0)
    throw std::invalid_argument(
        "the TAR at a FAR is undefined: no genuine or no impostor comparisons");

  std::vector<Place> places;
  std::vector<Keep> keep(kBins, nothing);
  for (const double far : fars) {
    places.push_back(find_place(counts, allowed_false_accepts(far, total[0])));
    const Place& place = places.back();
    if (place.allowed == total[0]) {  // accepts everything: the threshold is the lowest score
      if (place.next < kBins) keep[place.next] = std::max(keep[place.next], lowest);
      continue;
    }
    keep[place.bin] = everything;
    if (place.next < kBins) keep[place.next] = std::max(keep[place.next], lowest);
  }
  const Kept kept = keep_bins(scores, labels, keep, job, stage);

  std::vector<TarAtFar> cells;
  for (std::size_t f = 0; f < fars.size(); ++f) {
    const Place& place = places[f];
    if (place.allowed == total[0]) {
      cells.push_back(exact_tar_at_far(points_around(total[1], total[0], total[1], total[0],
                                                     kept.lowest[place.next], std::nullopt),
                                       fars[f]));
      continue;
    }
    // Of the kept scores, ascending, the bins above this one's are at the end.
    std::int64_t end[2];
    for (int label = 0; label < 2; ++label)
      end[label] = std::partition_point(kept.scores[label].begin(), kept.scores[label].end(),
                                        [&](double s) { return bin_of(s) <= place.bin; }) -
                   kept.scores[label].begin();
    const double rejected =
        kept.scores[0][static_cast<std::size_t>(end[0] - 1 - (place.allowed - place.above[0]))];
    double accepted =
        place.next < kBins ? kept.lowest[place.next] : std::numeric_limits<double>::infinity();
    std::int64_t accepts[2];
    for (int label = 0; label < 2; ++label) {
      const auto& list = kept.scores[label];
      const auto first = std::upper_bound(list.begin(), list.begin() + end[label], rejected);
      if (first != list.begin() + end[label]) accepted = std::min(accepted, *first);
      accepts[label] = place.above[label] + (list.begin() + end[label] - first);
    }
    cells.push_back(exact_tar_at_far(
        points_around(total[1], total[0], accepts[1], accepts[0], accepted, rejected), fars[f]));
  }
  return cells;
}

}  // namespace

std::vector<TarAtFar> tar_at_fars(std::span<const double> scores,
                                  std::span<const std::uint8_t> labels,
                                  std::span<const double> fars, const Job& job) {
  return measure(scores, labels, fars, job);
}

std::vector<TarAtFar> tar_at_fars(std::span<const float> scores,
                                  std::span<const std::uint8_t> labels,
                                  std::span<const double> fars, const Job& job) {
  return measure(scores, labels, fars, job);
}

}  // namespace facebench
