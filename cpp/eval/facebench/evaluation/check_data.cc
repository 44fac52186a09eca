#include "facebench/evaluation/check_data.h"

#include <algorithm>

#include "facebench/core/error.h"
#include "facebench/io/presence.h"
#include "facebench/lists/internal/file_listing.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// Those that a track of this kind has, with the official ones beside.
DataCheck::TrackCounts counts_of(const ProtocolSpec& spec, const Track& track,
                                 const TrialSet& trials) {
  DataCheck::TrackCounts result{track.name, {}};
  const auto official = std::ranges::find(spec.expected, track.name, &ExpectedCounts::track);
  for (const auto& [name, count] : track_counts(track, trials)) {
    std::optional<std::int64_t> official_count;
    if (official != spec.expected.end() && official->of(name) >= 0)
      official_count = official->of(name);
    if (count != 0 || official_count) result.counts.push_back({name, count, official_count});
  }
  return result;
}

void look_for_images(const ProtocolSpec& spec, const TrialSet& trials, const DataPlaces& places,
                     DataCheck& check) {
  constexpr std::int64_t most = 10;
  try {
    check.images = find_images(spec, trials, places);
  } catch (const Error& e) {  // none is there, which is an answer here
    check.no_images = e.what();
  }
  if (is_file(check.images)) return;  // an archive among the lists: all there
  std::vector<fs::path> paths;
  if (!check.images.empty()) paths = image_paths(spec, trials, check.images);
  FileListing listing;
  std::vector<std::string> absent;
  for (std::size_t i = 0; i < trials.names.size(); ++i)
    if (paths.empty() || !listing.has(paths[i])) absent.push_back(trials.names[i]);
  check.missing = static_cast<std::int64_t>(absent.size());
  check.first_missing.assign(absent.begin(), absent.begin() + std::min(most, check.missing));
  if (check.images.empty()) return;
  if (std::string advice = absent_images_advice(absent, check.images); !advice.empty())
    check.notes.push_back(std::move(advice));
}

}  // namespace

DataCheck check_data(const ProtocolSpec& spec, const DataPlaces& places) {
  DataCheck check;
  check.protocol = spec.id;
  check.lists = find_lists(spec, places);
  const TrialSet trials = spec.reader->read(check.lists);
  for (const Track& track : trials.tracks) check.tracks.push_back(counts_of(spec, track, trials));
  check.differences = differences_from_official(spec, trials);
  for (const TrialList& list : trials.lists)
    for (const std::string& note : list.notes)
      check.notes.push_back(list.path.filename().string() + " " + note + ".");
  check.notes.insert(check.notes.end(), trials.notes.begin(), trials.notes.end());
  check.blemishes = trials.blemishes;
  check.listed = static_cast<std::int64_t>(trials.names.size());
  look_for_images(spec, trials, places, check);
  return check;
}

Json data_check_json(const DataCheck& check) {
  Json tracks = Json::object();
  for (const DataCheck::TrackCounts& track : check.tracks) {
    Json& counts = tracks[track.name] = Json::object();
    for (const DataCheck::Count& c : track.counts)
      counts[c.name] = {{"found", c.found},
                        {"official", c.official ? Json(*c.official) : Json(nullptr)}};
  }
  return {{"protocol", check.protocol},
          {"complete", check.complete()},
          {"lists", check.lists.generic_string()},
          {"images", check.images.empty() ? Json(nullptr) : Json(check.images.generic_string())},
          {"no_images", check.no_images},
          {"listed", check.listed},
          {"missing", check.missing},
          {"first_missing", check.first_missing},
          {"tracks", tracks},
          {"differences", check.differences},
          {"notes", check.notes},
          {"blemishes", blemishes_json(check.blemishes)}};
}

}  // namespace facebench
