#include "facebench/trials/dense_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "facebench/metrics/many_comparisons.h"
#include "facebench/metrics/score_tail.h"
#include "facebench/trials/internal/columns.h"
#include "facebench/trials/internal/searched_units.h"
#include "facebench/trials/internal/tail_of_pairs.h"
#include "facebench/trials/internal/trial_kinds.h"
#include "facebench/trials/internal/trial_parts.h"
#include "facebench/trials/measurable.h"

namespace facebench {

void DenseTrials::check(const TrialSet& set, const std::string& track) const {
  // A mask says itself which rows and columns are compared.
  check_rows_and_columns(rows, columns, triangle, mask.empty(), set, track);
  if (mask.empty()) return;
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(fmt::format("track {}: {}", track, why));
  };
  if (mask.size() != rows.size() * columns.size())
    refuse(
        fmt::format("a mask of {} entries for {} x {}", mask.size(), rows.size(), columns.size()));
  for (std::size_t k = 0; k < mask.size(); ++k)
    if (mask[k] > is_impostor) refuse(fmt::format("mask entry [{}] is {}", k, mask[k]));
}

std::vector<std::int32_t> DenseTrials::units() const { return distinct(joined(rows, columns)); }

std::vector<std::int64_t> DenseTrials::shape() const {
  return {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns.size())};
}

std::optional<Comparison> DenseTrials::comparison_at(std::int64_t k) const {
  const auto n = static_cast<std::size_t>(k);
  const std::size_t row = n / columns.size(), column = n % columns.size();
  if (triangle && column <= row) return {};
  if (!mask.empty() && mask[n] == not_compared) return {};
  return Comparison{rows[row], columns[column]};
}

bool DenseTrials::genuine_at(const TrialSet& set, std::int64_t k) const {
  const auto n = static_cast<std::size_t>(k);
  if (!mask.empty()) return mask[n] == is_genuine;
  return same_identity(set, {rows[n / columns.size()], columns[n % columns.size()]});
}

TrialSize DenseTrials::size(const TrialSet& set, std::span<const std::uint8_t> left_out) const {
  const TrackSide row_side = track_side(set.unit_identities(), rows, left_out);
  const TrackSide column_side = track_side(set.unit_identities(), columns, left_out);
  if (mask.empty()) return size_of_all_pairs(row_side, column_side, triangle);
  TrialSize result;
  for (std::size_t k = 0; k < mask.size(); ++k) {
    const std::size_t row = k / columns.size(), column = k % columns.size();
    if (triangle && column <= row) continue;
    if (row_side.left_out[row] || column_side.left_out[column]) continue;
    result.comparisons += mask[k] != not_compared;
    result.genuine += mask[k] == is_genuine;
  }
  return result;
}

std::vector<std::pair<std::string, std::int64_t>> DenseTrials::counts(const TrialSet&) const {
  return {{"rows", shape()[0]}, {"columns", shape()[1]}};
}

bool DenseTrials::same_as(const Trials& trials, std::span<const std::int32_t> unit_of_other) const {
  const auto* other = dynamic_cast<const DenseTrials*>(&trials);
  return other && triangle == other->triangle && mask == other->mask &&
         same_units(other->rows, rows, unit_of_other) &&
         same_units(other->columns, columns, unit_of_other);
}

Storage::What DenseTrials::storage_of_many() const {
  return mask.empty() ? Storage::What::tail : Storage::What::all;
}

Scores DenseTrials::score(const UnitEmbeddings& units, const Storage& storage,
                          const Job& job) const {
  if (storage.what == Storage::What::tail) return ManyPairs(*this, units, storage.far).tail(job);
  return cosine_block<float>(units, rows, columns, triangle, job);
}

Measurable DenseTrials::measurable(const ScoredTrack& scored, const Job& job) const {
  require_both_classes(scored, *this);
  const TrackSide row_side = track_side(scored.set.unit_identities(), rows, scored.left_out);
  const TrackSide column_side = track_side(scored.set.unit_identities(), columns, scored.left_out);
  std::shared_ptr<const ManyComparisons> data;
  Measurable result;
  if (scored.scores.tail) {
    result.tail = scored.scores.tail;
    if (!scored.left_out.empty()) {
      const TrialSize left = size(scored.set, scored.left_out);
      result.tail = std::make_shared<const ScoreTail>(without_left_out(
          *scored.scores.tail, row_side, column_side, left.comparisons - left.genuine));
    }
    data = std::make_shared<const ManyComparisons>(
        *result.tail, TailSides{row_side.identity, column_side.identity, triangle,
                                row_side.left_out, column_side.left_out});
  } else {
    require_each(scored, *this);
    data = std::make_shared<const ManyComparisons>(
        DenseScores{scored.scores.each_single, row_side.identity, column_side.identity, triangle,
                    mask, row_side.left_out, column_side.left_out},
        job);
    if (scored.searches && !triangle && mask.empty())
      add_searches(scored, row_side, column_side, job, result);
  }
  result.scores = data;
  if (scored.intervals)
    result.bootstrap = [data, how = scored.intervals->of_people] {
      return Bootstrap::of_people(data, how);
    };
  return result;
}

void DenseTrials::write(H5Writer& file, const std::string& group) const {
  write_column(file, group + "rows", rows);
  write_column(file, group + "columns", columns);
  write_column(file, group + "triangle", std::vector<std::uint8_t>{triangle});
  if (!mask.empty()) file.write<std::uint8_t>(group + "mask", mask, shape());
}

std::shared_ptr<const Trials> read_dense_trials(const H5Reader& file, const std::string& group) {
  auto trials = std::make_shared<DenseTrials>();
  trials->rows = file.read<std::int32_t>(group + "rows", 1);
  trials->columns = file.read<std::int32_t>(group + "columns", 1);
  const auto triangle = read_value<std::uint8_t>(file, group + "triangle");
  if (triangle > 1) throw std::invalid_argument(group + "triangle is not 0 or 1");
  trials->triangle = triangle == 1;
  if (file.has(group + "mask")) trials->mask = file.read<std::uint8_t>(group + "mask", 2);
  return trials;
}

}  // namespace facebench
