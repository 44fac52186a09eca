#include "facebench/trials/internal/tail_of_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/version.h"
#include "facebench/io/sha256.h"

namespace facebench {
namespace {

// So fine that the metrics which need all scores are known to three digits or more.
constexpr std::int64_t kBins = 8192;

std::int64_t impostors(const TrialSize& size) { return size.comparisons - size.genuine; }

// Adds the genuine comparisons with a failed side, which have the lowest score.
void add_failed_genuine(const UnitEmbeddings& units, std::span<const std::int32_t> rows,
                        std::span<const std::int32_t> columns, bool triangle, ScoreTail& tail) {
  std::unordered_map<std::int32_t, std::vector<std::size_t>> columns_of;
  for (std::size_t c = 0; c < columns.size(); ++c)
    columns_of[units.identity[static_cast<std::size_t>(columns[c])]].push_back(c);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto of_person = columns_of.find(units.identity[static_cast<std::size_t>(rows[r])]);
    if (of_person == columns_of.end()) continue;
    for (const std::size_t c : of_person->second) {
      if (triangle && c <= r) continue;
      if (!units.failed(rows[r]) && !units.failed(columns[c])) continue;
      tail.genuine.push_back(failed_score({}));
      tail.genuine_row.push_back(static_cast<std::int32_t>(r));
      tail.genuine_column.push_back(static_cast<std::int32_t>(c));
      ++tail.histogram.genuine.front();
    }
  }
}

}  // namespace

ManyPairs::ManyPairs(const DenseTrials& trials, const UnitEmbeddings& units, double far)
    : trials_(trials),
      units_(units),
      far_(far),
      left_(enrolled_units(units, trials.rows)),
      right_(trials.triangle ? EnrolledUnits{} : enrolled_units(units, trials.columns)) {
  const std::vector<std::uint8_t> failed = failed_units(units.status);
  const auto size = [&](std::span<const std::uint8_t> left_out) {
    return size_of_all_pairs(track_side(units.identity, trials.rows, left_out),
                             track_side(units.identity, trials.columns, left_out), trials.triangle);
  };
  const TrialSize enrolled = size(failed);
  enrolled_ = enrolled.comparisons;
  impostors_ = impostors(size({}));
  options_.bins = kBins;
  // The FAR is one of all comparisons, those that failed among them.
  options_.far =
      std::min(1.0, far * static_cast<double>(impostors_) /
                        static_cast<double>(std::max<std::int64_t>(impostors(enrolled), 1)));
}

std::string ManyPairs::sha256() const {
  Sha256 hash;
  hash.update(fmt::format("{} {} {} {}\n", version(), trials_.triangle, far_, impostors_));
  for (const EnrolledUnits* side : {&left_, &right_}) {
    hash.update(std::as_bytes(std::span(side->position)));
    hash.update(std::as_bytes(std::span(side->identity)));
    hash.update(std::as_bytes(std::span(side->values)));
  }
  return hash.hex();
}

template <class OfTriangle, class OfBoth>
auto ManyPairs::score(const OfTriangle& of_triangle, const OfBoth& of_both, const Job& job) const {
  const EmbeddingRows left(left_.values, units_.dim, job);
  if (trials_.triangle) return of_triangle(left);
  return of_both(left, EmbeddingRows(right_.values, units_.dim, job));
}

AllPairsShard ManyPairs::shard(const Shard& shard, const Job& job) const {
  if (enrolled_ == 0) fail("all pairs", "no comparison is left of which no side failed");
  return score(
      [&](const EmbeddingRows& left) {
        return all_pairs_shard(left, left_.identity, shard, options_, job);
      },
      [&](const EmbeddingRows& left, const EmbeddingRows& right) {
        return all_pairs_shard(left, left_.identity, right, right_.identity, shard, options_, job);
      },
      job);
}

Scores ManyPairs::tail(const Job& job) const {
  ScoreTail none;
  none.histogram = {{-1, 1}, {0}, {0}};
  if (enrolled_ == 0) return with_failed(std::move(none));
  return with_failed(score(
      [&](const EmbeddingRows& left) { return all_pairs(left, left_.identity, options_, job); },
      [&](const EmbeddingRows& left, const EmbeddingRows& right) {
        return all_pairs(left, left_.identity, right, right_.identity, options_, job);
      },
      job));
}

Scores ManyPairs::tail_of(std::vector<AllPairsShard> shards) const {
  return with_failed(merge_all_pairs(std::move(shards)));
}

Scores ManyPairs::with_failed(ScoreTail tail) const {
  const EnrolledUnits& right = trials_.triangle ? left_ : right_;
  const auto to_positions = [](std::vector<std::int32_t>& at, const EnrolledUnits& from) {
    for (std::int32_t& i : at) {
      if (i < 0 || static_cast<std::size_t>(i) >= from.position.size())
        throw std::invalid_argument(
            fmt::format("a shard names row {} of {} embeddings", i, from.position.size()));
      i = from.position[static_cast<std::size_t>(i)];
    }
  };
  to_positions(tail.genuine_row, left_);
  to_positions(tail.impostor_row, left_);
  to_positions(tail.genuine_column, right);
  to_positions(tail.impostor_column, right);
  add_failed_genuine(units_, trials_.rows, trials_.columns, trials_.triangle, tail);
  tail.histogram.impostor.front() += impostors_ - tail.impostor_count;
  tail.impostor_count = impostors_;
  return Scores::of_tail(std::move(tail), far_);
}

ScoreTail without_left_out(const ScoreTail& tail, const TrackSide& rows, const TrackSide& columns,
                           std::int64_t impostors) {
  ScoreTail kept = tail;
  kept.genuine.clear();
  kept.genuine_row.clear();
  kept.genuine_column.clear();
  for (std::size_t k = 0; k < tail.genuine.size(); ++k) {
    const std::int32_t r = tail.genuine_row[k], c = tail.genuine_column[k];
    if (rows.left_out[static_cast<std::size_t>(r)] || columns.left_out[static_cast<std::size_t>(c)])
      continue;
    kept.genuine.push_back(tail.genuine[k]);
    kept.genuine_row.push_back(r);
    kept.genuine_column.push_back(c);
  }
  // They were counted in the lowest bin.
  kept.histogram.impostor.front() -= tail.impostor_count - impostors;
  kept.histogram.genuine.front() -=
      static_cast<std::int64_t>(tail.genuine.size() - kept.genuine.size());
  kept.impostor_count = impostors;
  return kept;
}

}  // namespace facebench
