#include <fmt/format.h>

#include <stdexcept>
#include <unordered_set>

#include "protocols/track_kinds.h"

namespace facebench {
namespace {

const MatrixTrials& of(const Track& t) { return std::get<MatrixTrials>(t.trials); }

// Rows and columns of the scores, (groups, subjects) flattened.
std::vector<std::int32_t> by_group(const MatrixTrials& t, const std::vector<std::int32_t>& units) {
  const std::size_t groups = t.groups.size();
  std::vector<std::int32_t> result;
  for (std::size_t g = 0; g < groups; ++g)
    for (std::size_t s = 0; s < units.size() / groups; ++s) result.push_back(units[s * groups + g]);
  return result;
}

void check(const Track& track, const TrialSet& set) {
  const MatrixTrials& t = of(track);
  const auto require = [&](bool ok, const std::string& what) {
    if (!ok) throw std::invalid_argument(fmt::format("track {}: {}", track.name, what));
  };
  const std::size_t groups = t.groups.size();
  require(groups > 0 && !t.first.empty() && t.first.size() == t.second.size() &&
              t.first.size() % groups == 0,
          fmt::format("{} groups with {} first and {} second templates", groups, t.first.size(),
                      t.second.size()));
  require(std::unordered_set<std::string>(t.groups.begin(), t.groups.end()).size() == groups,
          "a group is there twice");
  std::vector<std::int32_t> all = t.first;
  all.insert(all.end(), t.second.begin(), t.second.end());
  check_units(all, set, track.name);
  check_distinct(all, set, track.name);
  std::unordered_set<std::int32_t> people;
  for (std::size_t k = 0; k < t.first.size(); ++k) {
    const std::int32_t person = set.unit_identity(t.first[k - k % groups]);
    require(set.unit_identity(t.first[k]) == person && set.unit_identity(t.second[k]) == person,
            fmt::format("the templates of subject {} are of different people", k / groups));
    require(k % groups != 0 || people.insert(person).second,
            fmt::format("subject {} is there twice",
                        set.identity_names[static_cast<std::size_t>(person)]));
  }
}

std::vector<std::int32_t> units(const Track& t) {
  std::vector<std::int32_t> all;
  for (std::size_t k = 0; k < of(t).first.size(); ++k) {
    all.push_back(of(t).first[k]);
    all.push_back(of(t).second[k]);
  }
  return all;
}

std::vector<std::int64_t> shape(const Track& track) {
  const auto groups = static_cast<std::int64_t>(of(track).groups.size());
  const std::int64_t subjects = of(track).subjects();
  return {groups, subjects, groups, subjects};
}

std::optional<Comparison> sides(const Track& track, std::int64_t k) {
  const MatrixTrials& t = of(track);
  const auto groups = static_cast<std::int64_t>(t.groups.size());
  const std::int64_t subjects = t.subjects(), width = groups * subjects;
  const auto unit = [&](const std::vector<std::int32_t>& units, std::int64_t i) {
    return units[static_cast<std::size_t>(i % subjects * groups + i / subjects)];
  };
  return Comparison{unit(t.first, k / width), unit(t.second, k % width)};
}

bool genuine(const Track& track, const TrialSet& set, std::int64_t k) {
  return same_identity(set, *sides(track, k));
}

TrackScores score(const Track& track, const UnitEmbeddings& units, const Job& job) {
  const MatrixTrials& t = of(track);
  return cosine_block<double>(units, by_group(t, t.first), by_group(t, t.second), false, job);
}

std::vector<std::pair<std::string, std::int64_t>> more_counts(const Track& t, const TrialSet&) {
  return {{"subjects", of(t).subjects()}};
}

void measure(const TrackData& d, TrackResult& result, const Job& job) {
  const bool drop = drops_failed(d.options);
  count_comparisons(d, drop, result);
  std::vector<std::uint8_t> left_out(static_cast<std::size_t>(score_count(d.scores)), 0);
  for (std::size_t k = 0; drop && k < left_out.size(); ++k)
    left_out[k] =
        status_of(*sides(d.track, static_cast<std::int64_t>(k)), d.status) != SampleStatus::ok;
  const auto data = std::make_shared<const SimilarityMatrix>(
      of(d.track).groups, std::get<std::vector<double>>(d.scores), std::move(left_out));
  std::function<std::vector<Interval>(std::span<const Statistic>)> intervals;
  if (interval_methods().at(*d.options.interval).make && of(d.track).subjects() > 1)
    intervals = [&](std::span<const Statistic> statistics) {
      return identity_bootstrap(of(d.track).subjects(), statistics,
                                {d.options.replicates, d.options.level, d.options.seed}, job);
    };
  measure_cells(d, data, &Metric::matrix, intervals, result);
}

void write(H5Writer& file, const std::string& group, const Track& track) {
  const MatrixTrials& t = of(track);
  const std::vector<std::int64_t> both = {t.subjects(), static_cast<std::int64_t>(t.groups.size())};
  file.write_texts(group + "groups", t.groups);
  file.write<std::int32_t>(group + "first", t.first, both);
  file.write<std::int32_t>(group + "second", t.second, both);
}

void read(const H5Reader& file, const std::string& group, Track& track) {
  MatrixTrials t;
  t.groups = file.read_texts(group + "groups");
  t.first = file.read<std::int32_t>(group + "first", 2);
  t.second = file.read<std::int32_t>(group + "second", 2);
  track.trials = std::move(t);
}

}  // namespace

TrackKind matrix_kind() {
  return {.name = "matrix",
          .doc = "templates of each group with those of each other group, of the same subjects",
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
