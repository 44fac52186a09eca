#include <fmt/format.h>

#include <stdexcept>
#include <unordered_set>

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
  return {static_cast<std::int64_t>(of(t).probes.size()),
          static_cast<std::int64_t>(of(t).gallery.size())};
}

std::optional<Comparison> sides(const Track& track, std::int64_t k) {
  const IdentificationTrials& t = of(track);
  const auto n = static_cast<std::size_t>(k);
  return Comparison{t.probes[n / t.gallery.size()], t.gallery[n % t.gallery.size()]};
}

bool genuine(const Track& track, const TrialSet& set, std::int64_t k) {
  return same_identity(set, *sides(track, k));
}

TrackScores score(const Track& track, const UnitEmbeddings& units, const Job& job) {
  return cosine_block<float>(units, of(track).probes, of(track).gallery, false, job);
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
  count_comparisons(d, drops_failed(d.options), result);
  measure_searches(d, of(d.track).probes, of(d.track).gallery, result, job);
}

void write(H5Writer& file, const std::string& group, const Track& track) {
  write_column(file, group + "gallery", of(track).gallery);
  write_column(file, group + "probes", of(track).probes);
}

void read(const H5Reader& file, const std::string& group, Track& track) {
  track.trials = IdentificationTrials{file.read<std::int32_t>(group + "gallery", 1),
                                      file.read<std::int32_t>(group + "probes", 1)};
}

}  // namespace

void measure_searches(const TrackData& d, const std::vector<std::int32_t>& probes,
                      const std::vector<std::int32_t>& gallery, TrackResult& result,
                      const Job& job) {
  const bool drop = drops_failed(d.options);
  const TrackSide all_probes = track_side(d.trials, probes, d.status, drop);
  const TrackSide all_gallery = track_side(d.trials, gallery, d.status, drop);
  const SearchedUnits used = searched_units(all_probes, all_gallery);
  if (used.gallery.empty() || used.probes.empty())
    fail(fmt::format("protocol {}, track {}", d.spec.id, d.track.name),
         "no search is left: all probes, or all of the gallery, could not be enrolled");
  const std::vector<float> similarity =
      pick_block(std::get<std::vector<float>>(d.scores), gallery.size(), used);
  const auto probe_identity = pick(all_probes.identity, used.probes);
  const auto gallery_identity = pick(all_gallery.identity, used.gallery);
  const auto data =
      std::make_shared<const Searches>(similarity, probe_identity, gallery_identity, job);
  const std::unordered_set<std::int32_t> people(probe_identity.begin(), probe_identity.end());
  std::function<std::vector<Interval>(std::span<const Statistic>)> intervals;
  if (interval_methods().at(d.options.interval).make && people.size() > 1)
    intervals = [&](std::span<const Statistic> statistics) {
      return vertex_bootstrap({probe_identity, probe_identity, {}}, statistics,
                              {d.options.replicates, d.options.level, d.options.seed}, job);
    };
  measure_cells(d, data, &Metric::identification, intervals, result);
}

TrackKind identification_kind() {
  return {.name = "identification",
          .doc = "probes searched in a gallery",
          .check = check,
          .units = units,
          .shape = shape,
          .sides = sides,
          .genuine = genuine,
          .single = true,
          .score = score,
          .more_counts = more_counts,
          .measure = measure,
          .write = write,
          .read = read};
}

}  // namespace facebench
