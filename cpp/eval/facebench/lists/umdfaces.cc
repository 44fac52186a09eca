// UMDFaces: tracks by the difference in yaw between the two faces of a pair. The data set's CSV
// files name, by columns, SUBJECT_ID, FILE, YAW (degrees) and the face's box. Pairs are drawn out
// of them (pairs_from = "drawn") or taken from a list (pairs_from = "list"); the first list of the
// result notes which. Source: Bansal et al., IJCB 2017 (the data), Wang & Guo 2019 (three tracks of
// 5,000 + 5,000).
// Drawn: every pair of the track's kind is equally likely, none comes twice; counter-based random
// numbers keyed by seed, track and class, so a track does not depend on the others. If the faces
// give fewer pairs than `size`, as many of each kind as possible are drawn, and the note says so.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/lists/internal/draw_pairs.h"
#include "facebench/lists/internal/list_file.h"
#include "facebench/lists/internal/pair_collector.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/trials/listed_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// Pairs drawn out of the faces, pairs_from = "drawn",
struct UmdfacesDrawnOptions {
  std::vector<std::string> csv;
  std::int64_t size = 1;
  std::int64_t seed = 0;
  static void describe(OptionsBuilder<UmdfacesDrawnOptions>& o) {
    o.name("umdfaces", "Pairs that are drawn; the tracks are [[reader.tracks]].");
    o.field("csv", &UmdfacesDrawnOptions::csv, "the files of faces").required = true;
    o.field("size", &UmdfacesDrawnOptions::size,
            "genuine pairs of a track, and as many impostor pairs", 1, 100'000'000)
        .required = true;
    o.field("seed", &UmdfacesDrawnOptions::seed, "of the drawing", 0, 9e15);
  }
};

// for tracks by yaw_from <= |yaw difference| < yaw_below;
struct YawTrackOptions {
  std::string name;
  double yaw_from = 0;
  double yaw_below = 0;
  static void describe(OptionsBuilder<YawTrackOptions>& o) {
    o.name("a umdfaces track", "A range of differences in yaw.");
    o.field("name", &YawTrackOptions::name, "of the track").required = true;
    o.field("yaw_from", &YawTrackOptions::yaw_from, "degrees").required = true;
    o.field("yaw_below", &YawTrackOptions::yaw_below, "degrees").required = true;
  }
};

// or taken from a list, pairs_from = "list".
struct UmdfacesListedOptions {
  std::vector<std::string> csv;
  std::string pairs;
  static void describe(OptionsBuilder<UmdfacesListedOptions>& o) {
    o.name("umdfaces", "Pairs from a list.");
    o.field("csv", &UmdfacesListedOptions::csv, "the files of faces").required = true;
    o.field("pairs", &UmdfacesListedOptions::pairs,
            "CSV file with the columns first, second (values of FILE), label (1 genuine, 0 "
            "impostor) and track")
        .required = true;
  }
};

struct Faces {
  std::vector<std::string> file;
  std::vector<std::int32_t> person;
  std::vector<double> yaw;
  std::vector<std::string> people;
  std::unordered_map<std::string, std::int32_t> index;  // of a file
};

const std::string& person_of(const Faces& faces, std::int32_t face) {
  return faces.people[static_cast<std::size_t>(faces.person[static_cast<std::size_t>(face)])];
}

// Adds the faces of one CSV file.
void read_faces(const ListCsv& list, std::unordered_map<std::string, std::int32_t>& people,
                Faces& faces, Blemishes& blemishes) {
  const CsvTable& table = list.table;
  const std::size_t subject = table.column("SUBJECT_ID"), file = table.column("FILE"),
                    yaw = table.column("YAW");
  if (table.rows() == 0) fail(at_line(table.name(), 2), "the file names no faces");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto where = [&] { return list.at(row); };
    const std::string name = sample_name(table.cell(row, file), blemishes, where);
    const std::string& person = table.cell(row, subject);
    if (person.empty()) fail(where().text(), "SUBJECT_ID is empty");
    if (const auto [at, fresh] =
            faces.index.try_emplace(name, static_cast<std::int32_t>(faces.file.size()));
        !fresh) {
      const std::string& first = person_of(faces, at->second);
      blemishes.add(BlemishKind::repeated_name, where, [&] {
        return first == person ? name
                               : fmt::format("{} is of {} here, of {} before", name, person, first);
      });
      continue;
    }
    const double degrees = table.number(row, yaw);
    if (!(degrees >= -180 && degrees <= 180))
      fail(where().text(), fmt::format("YAW is {}, not an angle in degrees", degrees));
    const auto [at, fresh] =
        people.try_emplace(person, static_cast<std::int32_t>(faces.people.size()));
    if (fresh) faces.people.push_back(person);
    faces.file.push_back(name);
    faces.person.push_back(at->second);
    faces.yaw.push_back(degrees);
  }
}

class UmdfacesReader : public TrialReader {
 public:
  TrialSet read(const fs::path& lists) const override {
    Faces faces;
    std::unordered_map<std::string, std::int32_t> people;
    Blemishes blemishes(lists);
    std::vector<TrialList> read;
    for (const std::string& name : csv()) {
      const ListCsv list = read_list_csv(lists / name, "faces", blemishes);
      read_faces(list, people, faces, blemishes);
      read.push_back(list.list);
    }
    std::string note;
    TrialSet set = pairs(faces, lists, read, note, blemishes);
    read.front().notes.push_back(std::move(note));
    set.lists = std::move(read);
    set.blemishes = blemishes.kinds();
    set.check();
    return set;
  }

 private:
  virtual const std::vector<std::string>& csv() const = 0;
  // The note says where the pairs come from; a list of pairs is added to `read`.
  virtual TrialSet pairs(const Faces& faces, const fs::path& lists, std::vector<TrialList>& read,
                         std::string& note, Blemishes& blemishes) const = 0;
};

class UmdfacesDrawnReader : public UmdfacesReader {
 public:
  UmdfacesDrawnReader(UmdfacesDrawnOptions options, std::vector<YawTrackOptions> tracks)
      : options_(std::move(options)), tracks_(std::move(tracks)) {}

  Json options() const override {
    Json json = options_to_json(options_);
    json["pairs_from"] = "drawn";
    json["tracks"] = Json::array();
    for (const YawTrackOptions& t : tracks_) json["tracks"].push_back(options_to_json(t));
    return json;
  }
  std::vector<std::string> files() const override { return options_.csv; }

 private:
  const std::vector<std::string>& csv() const override { return options_.csv; }

  // The note says where the faces give fewer pairs than are asked for.
  TrialSet pairs(const Faces& faces, const fs::path&, std::vector<TrialList>&, std::string& note,
                 Blemishes&) const override {
    note = fmt::format("gave the pairs by drawing, {0} + {0} for each track, seed {1}",
                       options_.size, options_.seed);
    TrialSet set;
    TrialSetBuilder builder(set);
    std::uint64_t number = 0;
    for (const YawTrackOptions& t : tracks_) {
      const YawPairs pairs(faces.person, faces.yaw, t.yaw_from, t.yaw_below);
      const std::int64_t size = std::min({options_.size, pairs.count(true), pairs.count(false)});
      if (size == 0)
        fail(fmt::format("track {}", t.name),
             fmt::format("the faces give {} genuine and {} impostor pairs", pairs.count(true),
                         pairs.count(false)),
             "Use more of the data set's files, or other bounds.");
      if (size < options_.size)
        note += fmt::format("; track {} has {} + {} only", t.name, size, size);
      ListedTrials track;
      for (const bool genuine : {true, false}) {
        Random random(static_cast<std::uint64_t>(options_.seed), "umdfaces.pairs",
                      {number, genuine ? 1u : 0u});
        for (const auto& [a, b] : pairs.draw(genuine, size, random)) {
          track.comparisons.push_back(
              {builder.sample(faces.file[static_cast<std::size_t>(a)], person_of(faces, a)),
               builder.sample(faces.file[static_cast<std::size_t>(b)], person_of(faces, b))});
          track.genuine.push_back(genuine ? 1 : 0);
        }
      }
      set.tracks.push_back({t.name, std::move(track)});
      ++number;
    }
    return set;
  }

  UmdfacesDrawnOptions options_;
  std::vector<YawTrackOptions> tracks_;
};

class UmdfacesListedReader : public UmdfacesReader {
 public:
  explicit UmdfacesListedReader(UmdfacesListedOptions options) : options_(std::move(options)) {}

  Json options() const override {
    Json json = options_to_json(options_);
    json["pairs_from"] = "list";
    return json;
  }
  std::vector<std::string> files() const override {
    std::vector<std::string> result = options_.csv;
    result.push_back(options_.pairs);
    return result;
  }

 private:
  const std::vector<std::string>& csv() const override { return options_.csv; }

  // The pairs of the list; who is on them is what the faces' files say.
  TrialSet pairs(const Faces& faces, const fs::path& lists, std::vector<TrialList>& read,
                 std::string& note, Blemishes& blemishes) const override {
    note = fmt::format("describes the faces; the pairs are those listed in {}", options_.pairs);
    const ListCsv list = read_list_csv(lists / options_.pairs, "pairs", blemishes);
    const CsvTable& table = list.table;
    const std::size_t first = table.column("first"), second = table.column("second"),
                      label = table.column("label"), track = table.column("track");
    if (table.rows() == 0) fail(at_line(table.name(), 2), "the list is empty");
    std::map<std::string, std::vector<std::size_t>> rows;  // of a track
    std::vector<std::string> order;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      auto& mine = rows[table.cell(row, track)];
      if (mine.empty()) order.push_back(table.cell(row, track));
      mine.push_back(row);
    }
    const auto where = [&](std::int64_t row) { return list.at(static_cast<std::size_t>(row)); };
    PairCollector collected(where, blemishes);
    for (const std::string& name : order) {
      collected.begin_track(name);
      for (const std::size_t row : rows[name]) {
        const auto at = static_cast<std::int64_t>(row);
        const std::string& word = table.cell(row, label);
        if (word != "1" && word != "0")
          fail(where(at).text(), fmt::format("the label is '{}', neither 1 nor 0", word));
        for (const std::size_t column : {first, second})
          if (!faces.index.contains(table.cell(row, column)))
            fail(where(at).text(),
                 fmt::format("'{}' is in none of the files of faces", table.cell(row, column)));
        collected.add(table.cell(row, first), table.cell(row, second), word == "1", -1, at);
      }
    }
    read.push_back(list.list);
    return collected.finish(
        [&](const std::string& name) { return person_of(faces, faces.index.at(name)); });
  }

  UmdfacesListedOptions options_;
};

std::vector<YawTrackOptions> read_yaw_tracks(const TomlTable& table) {
  std::vector<YawTrackOptions> tracks;
  for (const TomlTable& t : table.tables("tracks")) {
    const auto track = read_options<YawTrackOptions>(t);
    if (!(track.yaw_from < track.yaw_below)) t.fail_at("yaw_below", "is not above yaw_from");
    if (std::ranges::find(tracks, track.name, &YawTrackOptions::name) != tracks.end())
      t.fail_at("name", fmt::format("there is a track {} already", track.name));
    tracks.push_back(track);
  }
  if (tracks.empty()) table.fail_at("tracks", "no track is named");
  return tracks;
}

// The options, which name at least one file of faces.
template <class Options>
Options read_umdfaces_options(const TomlTable& table) {
  auto options = read_options<Options>(table);
  if (options.csv.empty()) table.fail_at("csv", "no file is named");
  return options;
}

std::unique_ptr<TrialReader> make_umdfaces_reader(const TomlTable& table) {
  const std::string from = table.text("pairs_from");
  if (from == "list")
    return std::make_unique<UmdfacesListedReader>(
        read_umdfaces_options<UmdfacesListedOptions>(table));
  if (from != "drawn")
    table.fail_at("pairs_from", unknown_name_message("source of pairs", from,
                                                     std::vector<std::string>{"drawn", "list"}));
  std::vector<YawTrackOptions> tracks = read_yaw_tracks(table);
  return std::make_unique<UmdfacesDrawnReader>(read_umdfaces_options<UmdfacesDrawnOptions>(table),
                                               std::move(tracks));
}

}  // namespace

TrialReaderEntry umdfaces_reader() {
  return {"umdfaces", "UMDFaces' CSV files: tracks by yaw difference, drawn or from a list",
          make_umdfaces_reader};
}

}  // namespace facebench
