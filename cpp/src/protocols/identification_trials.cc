#include <fmt/format.h>

#include <stdexcept>
#include <unordered_set>

#include "facebench/metrics/listed_pairs.h"
#include "facebench/protocols/searched_units.h"
#include "protocols/track_kinds.h"

namespace facebench {
namespace {

const IdentificationTrials& of(const Track& t) { return std::get<IdentificationTrials>(t.trials); }

void check(const Track& track, const TrialSet& set) {
  const IdentificationTrials& t = of(track);
  if (t.gallery.empty() || t.probes.empty())
    throw std::invalid_argument(fmt::format("track {}: {} units in the gallery and {} probes",
                                            track.name, t.gallery.size(), t.probes.size()));
  std::vector<std::int32_t> all = t.gallery;
  all.insert(all.end(), t.probes.begin(), t.probes.end());
  check_units(all, set, track.name);
  check_distinct(all, set, track.name);  // a unit in both would find itself
}

std::vector<std::int32_t> units(const Track& t) {
  std::vector<std::int32_t> all = of(t).gallery;
  all.insert(all.end(), of(t).probes.begin(), of(t).probes.end());
  return all;
}

std::vector<std::int64_t> shape(const Track& t) {
  if (of(t).outcomes_only) return {0};  // no score has a place of its own
  return {static_cast<std::int64_t>(of(t).probes.size()),
          static_cast<std::int64_t>(of(t).gallery.size())};
}

std::optional<Comparison> sides(const Track& track, std::int64_t k) {
  const IdentificationTrials& t = of(track);
  if (t.outcomes_only) return {};
  const auto n = static_cast<std::size_t>(k);
  return Comparison{t.probes[n / t.gallery.size()], t.gallery[n % t.gallery.size()]};
}

bool genuine(const Track& track, const TrialSet& set, std::int64_t k) {
  return same_identity(set, *sides(track, k));
}

TrackSize size(const Track& track, const TrialSet& set) {
  const auto& identity = set.unit_identities();
  return size_of_all_pairs(pick(identity, of(track).probes), pick(identity, of(track).gallery),
                           false);
}

// Searches in blocks of probes, so that memory does not grow with the scores.
SearchRecord search(const UnitEmbeddings& units, const std::vector<std::int32_t>& probes,
                    const std::vector<std::int32_t>& gallery, const Job& job) {
  const EnrolledUnits right = enrolled_units(units, gallery);
  Job inner = job;
  inner.progress = nullptr;
  const EmbeddingRows columns(right.values, units.dim, inner);
  const auto rows = [&](std::size_t first, std::size_t count) {
    const EnrolledUnits left = enrolled_units(units, std::span(probes).subspan(first, count));
    std::vector<float> block;
    if (!left.position.empty() && !right.position.empty())
      block = dense_scores(EmbeddingRows(left.values, units.dim, inner), columns, inner);
    if (left.position.size() == count && right.position.size() == gallery.size()) return block;
    std::vector<float> all(count * gallery.size(), static_cast<float>(failed_score({})));
    place_scores<float>(block, left.position, right.position, gallery.size(), all);
    return all;
  };
  return Searches(rows, pick(units.identity, probes), pick(units.identity, gallery), job).record();
}

TrackScores score(const Track& track, const UnitEmbeddings& units, const Job& job) {
  const IdentificationTrials& t = of(track);
  if (!t.outcomes_only) return cosine_block<float>(units, t.probes, t.gallery, false, job);
  SearchOutcomes outcomes{search(units, t.probes, t.gallery, job), {}};
  const SearchedUnits used =
      searched_units(track_side(units.identity, t.probes, units.status, true),
                     track_side(units.identity, t.gallery, units.status, true));
  if (!used.whole && !used.probes.empty() && !used.gallery.empty())
    outcomes.enrolled =
        search(units, pick(t.probes, used.probes), pick(t.gallery, used.gallery), job);
  return outcomes;
}

std::vector<std::pair<std::string, std::int64_t>> more_counts(const Track& track,
                                                              const TrialSet& set) {
  const IdentificationTrials& t = of(track);
  std::unordered_set<std::int32_t> enrolled;
  for (const std::int32_t u : t.gallery) enrolled.insert(set.unit_identity(u));
  const auto mated = std::ranges::count_if(
      t.probes, [&](std::int32_t u) { return enrolled.contains(set.unit_identity(u)); });
  const auto probes = static_cast<std::int64_t>(t.probes.size());
  return {{"gallery", static_cast<std::int64_t>(t.gallery.size())},
          {"probes", probes},
          {"mated", mated},
          {"non_mated", probes - mated}};
}

void measure(const TrackData& d, TrackResult& result, const Job& job) {
  count_all_pairs(track_side(d.trials, of(d.track).probes, d.status, true),
                  track_side(d.trials, of(d.track).gallery, d.status, true), false,
                  drops_failed(d.options), result);
  measure_searches(d, of(d.track).probes, of(d.track).gallery, result, job);
}

void write(H5Writer& file, const std::string& group, const Track& track) {
  write_column(file, group + "gallery", of(track).gallery);
  write_column(file, group + "probes", of(track).probes);
  if (of(track).outcomes_only)
    write_column(file, group + "outcomes_only", std::vector<std::uint8_t>{1});
}

void read(const H5Reader& file, const std::string& group, Track& track) {
  track.trials = IdentificationTrials{file.read<std::int32_t>(group + "gallery", 1),
                                      file.read<std::int32_t>(group + "probes", 1),
                                      file.has(group + "outcomes_only")};
}

}  // namespace

void measure_searches(const TrackData& d, const std::vector<std::int32_t>& probes,
                      const std::vector<std::int32_t>& gallery, TrackResult& result,
                      const Job& job) {
  const bool drop = drops_failed(d.options);
  const TrackSide all_probes = track_side(d.trials, probes, d.status, drop);
  const TrackSide all_gallery = track_side(d.trials, gallery, d.status, drop);
  const Searched used = searched(d.scores, all_probes, all_gallery, job);
  if (!used.searches)
    fail(fmt::format("protocol {}, track {}", d.spec.id, d.track.name),
         "no search is left: all probes, or all of the gallery, could not be enrolled");
  const auto& probe_identity = used.probe_identity;
  const std::unordered_set<std::int32_t> people(probe_identity.begin(), probe_identity.end());
  std::function<std::vector<Interval>(std::span<const Statistic>)> intervals;
  if (interval_methods().at(*d.options.interval).make && people.size() > 1)
    intervals = [&](std::span<const Statistic> statistics) {
      return vertex_bootstrap({probe_identity, probe_identity, {}}, statistics,
                              {d.options.replicates, d.options.level, d.options.seed}, job);
    };
  measure_cells(d, used.searches, &Metric::identification, intervals, result);
}

TrackKind identification_kind() {
  return {.name = "identification",
          .doc = "probes searched in a gallery",
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
