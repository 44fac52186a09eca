#include <fmt/format.h>

#include <stdexcept>

#include "facebench/metrics/listed_pairs.h"
#include "protocols/track_kinds.h"

namespace facebench {
namespace {

const ListedTrials& of(const Track& t) { return std::get<ListedTrials>(t.trials); }

const Comparison& at(const Track& t, std::int64_t k) {
  return of(t).comparisons[static_cast<std::size_t>(k)];
}

void check(const Track& track, const TrialSet& set) {
  const ListedTrials& t = of(track);
  const auto require = [&](bool ok, const std::string& what) {
    if (!ok) throw std::invalid_argument(fmt::format("track {}{}", track.name, what));
  };
  const std::size_t n = t.comparisons.size();
  require(n > 0, ": no comparisons");
  require(t.genuine.size() == n && (t.fold.empty() || t.fold.size() == n),
          fmt::format(": {} comparisons, {} labels, {} folds", n, t.genuine.size(), t.fold.size()));
  for (std::size_t k = 0; k < n; ++k) {
    const auto [a, b] = t.comparisons[k];
    check_units({a, b}, set, fmt::format("{}, comparison {}", track.name, k));
    require(a != b,
            fmt::format(", comparison {}: {} is compared with itself", k, set.unit_name(a)));
    require(t.genuine[k] <= 1 && (t.genuine[k] == 1) == same_identity(set, {a, b}),
            fmt::format(", comparison {}: the label contradicts the identities", k));
    require(t.fold.empty() || t.fold[k] >= 0, fmt::format(", comparison {}: fold below 0", k));
  }
}

std::vector<std::int32_t> units(const Track& t) {
  std::vector<std::int32_t> all;
  for (const Comparison& c : of(t).comparisons) {
    all.push_back(c.first);
    all.push_back(c.second);
  }
  return distinct(std::move(all));
}

std::vector<std::int64_t> shape(const Track& t) {
  return {static_cast<std::int64_t>(of(t).comparisons.size())};
}

std::optional<Comparison> sides(const Track& t, std::int64_t k) { return at(t, k); }

bool genuine(const Track& t, const TrialSet&, std::int64_t k) {
  return of(t).genuine[static_cast<std::size_t>(k)] == 1;
}

TrackScores score(const Track& track, const UnitEmbeddings& units, const Job& job) {
  const std::vector<Comparison>& comparisons = of(track).comparisons;
  std::vector<std::int32_t> first, second;
  std::vector<std::size_t> scored;
  for (std::size_t k = 0; k < comparisons.size(); ++k) {
    const auto [a, b] = comparisons[k];
    if (units.failed(a) || units.failed(b)) continue;
    first.push_back(a);
    second.push_back(b);
    scored.push_back(k);
  }
  const EmbeddingRows rows(units.values, units.dim, job);
  std::vector<double> scores = listed_pair_scores(rows, rows, first, second, job);
  if (scored.size() == comparisons.size()) return scores;
  std::vector<double> all(comparisons.size(), failed_score({}));
  for (std::size_t i = 0; i < scored.size(); ++i) all[scored[i]] = scores[i];
  return all;
}

std::vector<std::pair<std::string, std::int64_t>> more_counts(const Track& t, const TrialSet&) {
  return {{"folds", of(t).fold_count()}};
}

void measure(const TrackData& d, TrackResult& result, const Job& job) {
  const bool drop = drops_failed(d.options);
  count_comparisons(d, drop, result);
  require_both_classes(d, result);
  LabelledScores all = labelled_scores(d.track, d.trials, d.status, d.scores, drop);
  std::vector<std::int32_t> folds, first, second;
  const ListedTrials& trials = of(d.track);
  for (std::size_t k = 0; k < trials.comparisons.size(); ++k) {
    const Comparison& c = trials.comparisons[k];
    if (drop && status_of(c, d.status) != SampleStatus::ok) continue;
    if (!trials.fold.empty()) folds.push_back(trials.fold[k]);
    first.push_back(d.trials.unit_identity(c.first));
    second.push_back(d.trials.unit_identity(c.second));
  }
  const auto data = std::make_shared<const Comparisons>(all.scores, all.labels, folds);
  for (const MetricRequest& request : d.spec.metrics)
    if (protocol_metrics().at(request.name).needs_folds && data->fold_count() < 2)
      fail(fmt::format("protocol {}, track {}", d.spec.id, d.track.name),
           fmt::format("the list has no folds, which {} needs", request.name),
           "Take the metric out of the protocol, or use a list with folds.");
  const IntervalMethod& method = interval_methods().at(*d.options.interval);
  std::function<std::vector<Interval>(std::span<const Statistic>)> intervals;
  if (method.make)
    intervals = [&](std::span<const Statistic> statistics) {
      return method.make({first, second, folds}, statistics,
                         {d.options.replicates, d.options.level, d.options.seed}, job);
    };
  measure_cells(d, data, &Metric::listed, intervals, result);
}

void write(H5Writer& file, const std::string& group, const Track& track) {
  const ListedTrials& t = of(track);
  std::vector<std::int32_t> first, second;
  for (const Comparison& c : t.comparisons) {
    first.push_back(c.first);
    second.push_back(c.second);
  }
  write_column(file, group + "first", first);
  write_column(file, group + "second", second);
  write_column(file, group + "genuine", t.genuine);
  if (!t.fold.empty()) write_column(file, group + "fold", t.fold);
}

void read(const H5Reader& file, const std::string& group, Track& track) {
  ListedTrials t;
  const auto first = file.read<std::int32_t>(group + "first", 1);
  const auto second = file.read<std::int32_t>(group + "second", 1);
  if (first.size() != second.size())
    throw std::invalid_argument(fmt::format("track {}: {} first and {} second sides", track.name,
                                            first.size(), second.size()));
  for (std::size_t k = 0; k < first.size(); ++k) t.comparisons.push_back({first[k], second[k]});
  t.genuine = file.read<std::uint8_t>(group + "genuine", 1);
  if (file.has(group + "fold")) t.fold = file.read<std::int32_t>(group + "fold", 1);
  track.trials = std::move(t);
}

}  // namespace

TrackKind listed_kind() {
  return {.name = "listed",
          .doc = "a list of comparisons",
          .check = check,
          .units = units,
          .shape = shape,
          .sides = sides,
          .genuine = genuine,
          .score = score,
          .more_counts = more_counts,
          .measure = measure,
          .write = write,
          .read = read};
}

}  // namespace facebench
