#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <unordered_map>

#include "facebench/metrics/all_pairs.h"
#include "protocols/track_kinds.h"

namespace facebench {
namespace {

// So fine that the metrics which need all scores are known to three digits or more.
constexpr std::int64_t kBins = 8192;

const AllPairsTrials& of(const Track& t) { return std::get<AllPairsTrials>(t.trials); }

void check(const Track& track, const TrialSet& set) {
  const AllPairsTrials& t = of(track);
  check_rows_and_columns(t.rows, t.columns, t.triangle, set, track.name);
  if (!(t.far > 0 && t.far <= 1))
    throw std::invalid_argument(fmt::format(
        "track {}: a tail for a FAR of {}, which must lie in (0, 1]", track.name, t.far));
}

std::vector<std::int32_t> units(const Track& t) {
  std::vector<std::int32_t> all = of(t).rows;
  all.insert(all.end(), of(t).columns.begin(), of(t).columns.end());
  return distinct(std::move(all));
}

// No score has a place of its own.
std::vector<std::int64_t> shape(const Track&) { return {0}; }
std::optional<Comparison> sides(const Track&, std::int64_t) { return {}; }
bool genuine(const Track&, const TrialSet&, std::int64_t) { return false; }

// `identity` is that of every unit.
TrackSize size_of(const AllPairsTrials& t, const std::vector<std::int32_t>& identity) {
  return size_of_all_pairs(pick(identity, t.rows), pick(identity, t.columns), t.triangle);
}

TrackSize size(const Track& track, const TrialSet& set) {
  return size_of(of(track), set.unit_identities());
}

// Adds the genuine comparisons with a failed side, which have the lowest score.
void add_failed_genuine(const AllPairsTrials& t, const UnitEmbeddings& units, ScoreTail& tail) {
  std::unordered_map<std::int32_t, std::vector<std::size_t>> columns_of;
  for (std::size_t c = 0; c < t.columns.size(); ++c)
    columns_of[units.identity[static_cast<std::size_t>(t.columns[c])]].push_back(c);
  for (std::size_t r = 0; r < t.rows.size(); ++r) {
    const auto own = columns_of.find(units.identity[static_cast<std::size_t>(t.rows[r])]);
    if (own == columns_of.end()) continue;
    for (const std::size_t c : own->second) {
      if (t.triangle && c <= r) continue;
      if (!units.failed(t.rows[r]) && !units.failed(t.columns[c])) continue;
      tail.genuine.push_back(failed_score({}));
      tail.genuine_row.push_back(static_cast<std::int32_t>(r));
      tail.genuine_column.push_back(static_cast<std::int32_t>(c));
      ++tail.histogram.genuine.front();
    }
  }
}

std::int64_t impostors(const TrackSize& size) { return size.comparisons - size.genuine; }

TrackScores score(const Track& track, const UnitEmbeddings& units, const Job& job) {
  const AllPairsTrials& t = of(track);
  const EnrolledUnits left = enrolled_units(units, t.rows);
  const EnrolledUnits other = t.triangle ? EnrolledUnits{} : enrolled_units(units, t.columns);
  const EnrolledUnits& right = t.triangle ? left : other;
  const TrackSize enrolled = size_of_all_pairs(left.identity, right.identity, t.triangle);
  const std::int64_t all = impostors(size_of(t, units.identity));
  ScoreTail tail;
  tail.histogram = {{-1, 1}, {0}, {0}};
  if (enrolled.comparisons > 0) {
    AllPairsOptions options;
    options.bins = kBins;
    // The FAR is one of all comparisons, those that failed among them.
    options.far =
        std::min(1.0, t.far * static_cast<double>(all) /
                          static_cast<double>(std::max<std::int64_t>(impostors(enrolled), 1)));
    const EmbeddingRows rows(left.values, units.dim, job);
    if (t.triangle)
      tail = all_pairs(rows, left.identity, options, job);
    else
      tail = all_pairs(rows, left.identity, EmbeddingRows(right.values, units.dim, job),
                       right.identity, options, job);
  }
  const auto to_positions = [](std::vector<std::int32_t>& at, const EnrolledUnits& side) {
    for (std::int32_t& i : at) i = side.position[static_cast<std::size_t>(i)];
  };
  to_positions(tail.genuine_row, left);
  to_positions(tail.impostor_row, left);
  to_positions(tail.genuine_column, right);
  to_positions(tail.impostor_column, right);
  add_failed_genuine(t, units, tail);
  tail.histogram.impostor.front() += all - tail.impostor_count;
  tail.impostor_count = all;
  return tail;
}

std::vector<std::pair<std::string, std::int64_t>> more_counts(const Track& t, const TrialSet&) {
  return {{"rows", static_cast<std::int64_t>(of(t).rows.size())},
          {"columns", static_cast<std::int64_t>(of(t).columns.size())}};
}

// The tail without comparisons that have a failed side.
ScoreTail without_failed(ScoreTail tail, std::span<const std::uint8_t> row_failed,
                         std::span<const std::uint8_t> column_failed, std::int64_t impostors) {
  ScoreTail kept = tail;
  kept.genuine.clear();
  kept.genuine_row.clear();
  kept.genuine_column.clear();
  for (std::size_t k = 0; k < tail.genuine.size(); ++k) {
    const std::int32_t r = tail.genuine_row[k], c = tail.genuine_column[k];
    if (row_failed[static_cast<std::size_t>(r)] || column_failed[static_cast<std::size_t>(c)])
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

void measure(const TrackData& d, TrackResult& result, const Job& job) {
  const AllPairsTrials& t = of(d.track);
  const bool drop = drops_failed(d.options);
  const TrackSide rows = track_side(d.trials, t.rows, d.status, true);
  const TrackSide columns = track_side(d.trials, t.columns, d.status, true);
  count_all_pairs(rows, columns, t.triangle, drop, result);
  require_both_classes(d, result);

  TailSides sides{rows.identity, columns.identity, t.triangle, {}, {}};
  auto data = std::make_shared<TailComparisons>();
  data->tail = std::get<ScoreTail>(d.scores);
  if (drop) {
    sides.row_left_out = rows.left_out;
    sides.column_left_out = columns.left_out;
    data->tail =
        without_failed(std::move(data->tail), rows.left_out, columns.left_out, result.impostor);
  }
  data->highest = std::make_shared<const DenseComparisons>(data->tail, sides);
  std::function<std::vector<Interval>(std::span<const DenseStatistic>)> intervals;
  if (interval_methods().at(*d.options.interval).make)
    intervals = [&](std::span<const DenseStatistic> statistics) {
      return vertex_bootstrap(*data->highest, statistics,
                              {d.options.replicates, d.options.level, d.options.seed}, job);
    };
  measure_cells(d, std::shared_ptr<const TailComparisons>(data), &Metric::all_pairs, intervals,
                result);
}

void write(H5Writer& file, const std::string& group, const Track& track) {
  const AllPairsTrials& t = of(track);
  write_column(file, group + "rows", t.rows);
  write_column(file, group + "columns", t.columns);
  write_column(file, group + "triangle", std::vector<std::uint8_t>{t.triangle});
  write_column(file, group + "far", std::vector<double>{t.far});
}

void read(const H5Reader& file, const std::string& group, Track& track) {
  AllPairsTrials t;
  t.rows = file.read<std::int32_t>(group + "rows", 1);
  t.columns = file.read<std::int32_t>(group + "columns", 1);
  const auto triangle = file.read<std::uint8_t>(group + "triangle", 1);
  const auto far = file.read<double>(group + "far", 1);
  if (triangle.size() != 1 || triangle[0] > 1 || far.size() != 1)
    throw std::invalid_argument(fmt::format("track {}: triangle or far is damaged", track.name));
  t.triangle = triangle[0] == 1;
  t.far = far[0];
  track.trials = std::move(t);
}

}  // namespace

TrackKind all_pairs_kind() {
  return {.name = "all_pairs",
          .doc = "every unit with every other, more than are kept one by one",
          .check = check,
          .units = units,
          .shape = shape,
          .sides = sides,
          .genuine = genuine,
          .size = size,
          .score = score,
          .more_counts = more_counts,
          .measure = measure,
          .write = write,
          .read = read};
}

}  // namespace facebench
