#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "protocols/track_kinds.h"

namespace facebench {
namespace {

const DenseTrials& of(const Track& t) { return std::get<DenseTrials>(t.trials); }

void check(const Track& track, const TrialSet& set) {
  const DenseTrials& t = of(track);
  check_rows_and_columns(t.rows, t.columns, t.triangle, set, track.name);
  if (t.mask.empty()) return;
  const auto require = [&](bool ok, const std::string& what) {
    if (!ok) throw std::invalid_argument(fmt::format("track {}: {}", track.name, what));
  };
  require(t.mask.size() == t.rows.size() * t.columns.size(),
          fmt::format("a mask of {} entries for {} x {}", t.mask.size(), t.rows.size(),
                      t.columns.size()));
  for (std::size_t k = 0; k < t.mask.size(); ++k) {
    require(t.mask[k] <= DenseTrials::is_impostor,
            fmt::format("mask entry [{}] is {}", k, t.mask[k]));
    if (t.mask[k] == DenseTrials::not_compared) continue;
    const Comparison c{t.rows[k / t.columns.size()], t.columns[k % t.columns.size()]};
    require(c.first == c.second || (t.mask[k] == DenseTrials::is_genuine) == same_identity(set, c),
            fmt::format("mask entry [{}] contradicts the identities of {} and {}", k,
                        set.unit_name(c.first), set.unit_name(c.second)));
  }
}

std::vector<std::int32_t> units(const Track& t) {
  std::vector<std::int32_t> all = of(t).rows;
  all.insert(all.end(), of(t).columns.begin(), of(t).columns.end());
  return distinct(std::move(all));
}

std::vector<std::int64_t> shape(const Track& t) {
  return {static_cast<std::int64_t>(of(t).rows.size()),
          static_cast<std::int64_t>(of(t).columns.size())};
}

std::optional<Comparison> sides(const Track& track, std::int64_t k) {
  const DenseTrials& t = of(track);
  const auto n = static_cast<std::size_t>(k);
  const std::size_t row = n / t.columns.size(), column = n % t.columns.size();
  if (t.triangle && column <= row) return {};
  if (!t.mask.empty() && t.mask[n] == DenseTrials::not_compared) return {};
  return Comparison{t.rows[row], t.columns[column]};
}

bool genuine(const Track& track, const TrialSet& set, std::int64_t k) {
  const DenseTrials& t = of(track);
  const auto n = static_cast<std::size_t>(k);
  if (!t.mask.empty()) return t.mask[n] == DenseTrials::is_genuine;
  return same_identity(set, {t.rows[n / t.columns.size()], t.columns[n % t.columns.size()]});
}

TrackSize size(const Track& track, const TrialSet& set) {
  const DenseTrials& t = of(track);
  TrackSize result;
  const auto& identity = set.unit_identities();
  if (t.mask.empty())
    return size_of_all_pairs(pick(identity, t.rows), pick(identity, t.columns), t.triangle);
  for (std::size_t k = 0; k < t.mask.size(); ++k) {
    if (t.triangle && k % t.columns.size() <= k / t.columns.size()) continue;
    result.comparisons += t.mask[k] != DenseTrials::not_compared;
    result.genuine += t.mask[k] == DenseTrials::is_genuine;
  }
  return result;
}

TrackScores score(const Track& track, const UnitEmbeddings& units, const Job& job) {
  const DenseTrials& t = of(track);
  return cosine_block<float>(units, t.rows, t.columns, t.triangle, job);
}

std::vector<std::pair<std::string, std::int64_t>> more_counts(const Track& t, const TrialSet&) {
  return {{"rows", shape(t)[0]}, {"columns", shape(t)[1]}};
}

void measure(const TrackData& d, TrackResult& result, const Job& job) {
  const bool drop = drops_failed(d.options);
  count_comparisons(d, drop, result);
  require_both_classes(d, result);
  const DenseTrials& t = of(d.track);
  const auto data = std::make_shared<const DenseComparisons>(
      dense_comparisons(d.track, d.trials, d.status, d.scores, drop, job));
  std::function<std::vector<Interval>(std::span<const DenseStatistic>)> intervals;
  // Dense comparisons are one component: there are only people to draw again.
  if (interval_methods().at(*d.options.interval).make)
    intervals = [&](std::span<const DenseStatistic> statistics) {
      return vertex_bootstrap(*data, statistics,
                              {d.options.replicates, d.options.level, d.options.seed}, job);
    };
  measure_cells(d, data, &Metric::dense, intervals, result);
  const auto searched = [](const MetricRequest& r) {
    return protocol_metrics().at(r.name).identification.cell != nullptr;
  };
  if (!t.triangle && t.mask.empty() && std::ranges::any_of(d.spec.metrics, searched))
    measure_searches(d, t.rows, t.columns, result, job);
}

void write(H5Writer& file, const std::string& group, const Track& track) {
  const DenseTrials& t = of(track);
  write_column(file, group + "rows", t.rows);
  write_column(file, group + "columns", t.columns);
  write_column(file, group + "triangle", std::vector<std::uint8_t>{t.triangle});
  if (!t.mask.empty()) file.write<std::uint8_t>(group + "mask", t.mask, shape(track));
}

void read(const H5Reader& file, const std::string& group, Track& track) {
  DenseTrials t;
  t.rows = file.read<std::int32_t>(group + "rows", 1);
  t.columns = file.read<std::int32_t>(group + "columns", 1);
  const auto triangle = file.read<std::uint8_t>(group + "triangle", 1);
  if (triangle.size() != 1 || triangle[0] > 1)
    throw std::invalid_argument(fmt::format("track {}: triangle is not 0 or 1", track.name));
  t.triangle = triangle[0] == 1;
  if (file.has(group + "mask")) t.mask = file.read<std::uint8_t>(group + "mask", 2);
  track.trials = std::move(t);
}

}  // namespace

DenseComparisons dense_comparisons(const Track& track, const TrialSet& trials,
                                   std::span<const SampleStatus> unit_status,
                                   const TrackScores& scores, bool drop, const Job& job) {
  const DenseTrials& t = of(track);
  const TrackSide rows = track_side(trials, t.rows, unit_status, drop);
  const TrackSide columns = track_side(trials, t.columns, unit_status, drop);
  return DenseComparisons({std::get<std::vector<float>>(scores), rows.identity, columns.identity,
                           t.triangle, t.mask, rows.left_out, columns.left_out},
                          job);
}

TrackKind dense_kind() {
  return {.name = "dense",
          .doc = "every unit of one set with every unit of another",
          .check = check,
          .units = units,
          .shape = shape,
          .sides = sides,
          .genuine = genuine,
          .size = size,
          .single = true,
          .score = score,
          .more_counts = more_counts,
          .measure = measure,
          .write = write,
          .read = read};
}

}  // namespace facebench
