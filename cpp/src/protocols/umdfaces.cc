#include "protocols/umdfaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/io/text.h"
#include "facebench/protocols/listed_trials.h"
#include "protocols/draw_pairs.h"
#include "protocols/pair_collector.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct YawTrack {
  std::string name;
  double from = 0, below = 0;
};

struct Keys {
  std::vector<std::string> csv;
  std::string pairs;  // empty = drawn
  std::int64_t size = 0, seed = 0;
  std::vector<YawTrack> tracks;
};

struct Faces {
  std::vector<std::string> file;
  std::vector<std::int32_t> person;
  std::vector<double> yaw;
  std::vector<std::string> people;
  std::unordered_map<std::string, std::int32_t> index;  // of a file
};

// Adds the faces of one CSV file.
void read_faces(const CsvTable& table, std::unordered_map<std::string, std::int32_t>& people,
                Faces& faces) {
  const std::size_t subject = table.column("SUBJECT_ID"), file = table.column("FILE"),
                    yaw = table.column("YAW");
  if (table.rows() == 0) fail(at_line(table.name(), 2), "the file names no faces");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto where = [&] { return at_line(table.name(), table.place(row).line); };
    const std::string name = sample_name(table.cell(row, file), where);
    const std::string& person = table.cell(row, subject);
    if (person.empty()) fail(where(), "SUBJECT_ID is empty");
    if (!faces.index.try_emplace(name, static_cast<std::int32_t>(faces.file.size())).second)
      fail(where(), fmt::format("{} is there already", name));
    const double degrees = table.number(row, yaw);
    if (!(degrees >= -180 && degrees <= 180))
      fail(where(), fmt::format("YAW is {}, not an angle in degrees", degrees));
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
  explicit UmdfacesReader(Keys keys) : keys_(std::move(keys)) {}

  Json options() const override {
    if (!keys_.pairs.empty())
      return {{"csv", keys_.csv}, {"pairs_from", "list"}, {"pairs", keys_.pairs}};
    Json tracks = Json::array();
    for (const YawTrack& t : keys_.tracks)
      tracks.push_back({{"name", t.name}, {"yaw_from", t.from}, {"yaw_below", t.below}});
    return {{"csv", keys_.csv},
            {"pairs_from", "drawn"},
            {"size", keys_.size},
            {"seed", keys_.seed},
            {"tracks", tracks}};
  }

  std::vector<std::string> files() const override {
    std::vector<std::string> result = keys_.csv;
    if (!keys_.pairs.empty()) result.push_back(keys_.pairs);
    return result;
  }

  TrialSet read(const fs::path& lists) const override {
    Faces faces;
    std::unordered_map<std::string, std::int32_t> people;
    std::vector<TrialList> read;
    for (const std::string& name : keys_.csv) {
      const CsvTable table = read_csv(lists / name);
      read_faces(table, people, faces);
      read.push_back(trial_list("faces", lists / name, table.bytes()));
    }
    std::string note;
    TrialSet set;
    if (keys_.pairs.empty()) {
      note = fmt::format("gave the pairs by drawing, {0} + {0} for each track, seed {1}",
                         keys_.size, keys_.seed);
      set = drawn(faces, note);
    } else {
      note = fmt::format("describes the faces; the pairs are those listed in {}", keys_.pairs);
      set = listed(faces, lists / keys_.pairs, read);
    }
    read.front().notes.push_back(std::move(note));
    set.lists = std::move(read);
    set.check();
    return set;
  }

 private:
  // The note says where the faces give fewer pairs than are asked for.
  TrialSet drawn(const Faces& faces, std::string& note) const {
    TrialSet set;
    TrialSetBuilder builder(set);
    std::uint64_t number = 0;
    for (const YawTrack& t : keys_.tracks) {
      const YawPairs pairs(faces.person, faces.yaw, t.from, t.below);
      const std::int64_t size = std::min({keys_.size, pairs.count(true), pairs.count(false)});
      if (size == 0)
        fail(fmt::format("track {}", t.name),
             fmt::format("the faces give {} genuine and {} impostor pairs", pairs.count(true),
                         pairs.count(false)),
             "Use more of the data set's files, or other bounds.");
      if (size < keys_.size) note += fmt::format("; track {} has {} + {} only", t.name, size, size);
      ListedTrials track;
      for (const bool genuine : {true, false}) {
        Random random(static_cast<std::uint64_t>(keys_.seed), "umdfaces.pairs",
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

  static const std::string& person_of(const Faces& faces, std::int32_t face) {
    return faces.people[static_cast<std::size_t>(faces.person[static_cast<std::size_t>(face)])];
  }

  // The pairs of the list; who is on them is what the faces' files say.
  static TrialSet listed(const Faces& faces, const fs::path& path, std::vector<TrialList>& read) {
    const CsvTable table = read_csv(path);
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
    const auto where = [&](std::int64_t row) {
      return at_line(table.name(), table.place(static_cast<std::size_t>(row)).line);
    };
    PairCollector pairs(where);
    for (const std::string& name : order) {
      pairs.begin_track(name);
      for (const std::size_t row : rows[name]) {
        const auto at = static_cast<std::int64_t>(row);
        const std::string& word = table.cell(row, label);
        if (word != "1" && word != "0")
          fail(where(at), fmt::format("the label is '{}', neither 1 nor 0", word));
        const auto face = [&](std::size_t column) {
          const auto found = faces.index.find(table.cell(row, column));
          if (found == faces.index.end())
            fail(where(at),
                 fmt::format("'{}' is in none of the files of faces", table.cell(row, column)));
          return found->second;
        };
        const std::int32_t a = face(first), b = face(second);
        const bool same =
            faces.person[static_cast<std::size_t>(a)] == faces.person[static_cast<std::size_t>(b)];
        if (same != (word == "1"))
          fail(where(at), fmt::format("the label is {}, but SUBJECT_ID is {}", word,
                                      same ? "the same" : "another"));
        pairs.add(table.cell(row, first), table.cell(row, second), same, -1, at);
      }
    }
    read.push_back(trial_list("pairs", path, table.bytes()));
    return pairs.finish(
        [&](const std::string& name) { return person_of(faces, faces.index.at(name)); });
  }

  Keys keys_;
};

}  // namespace

std::unique_ptr<TrialReader> make_umdfaces_reader(const TomlTable& table) {
  Keys k;
  k.csv = table.texts("csv");
  if (k.csv.empty()) table.fail_at("csv", "no file is named");
  const std::string from = table.text("pairs_from");
  if (from == "list") {
    k.pairs = table.text("pairs");
  } else if (from == "drawn") {
    k.size = table.integer("size");
    if (k.size < 1 || k.size > 100'000'000) table.fail_at("size", "from 1 to 100,000,000 pairs");
    k.seed = table.integer("seed", 0);
    if (k.seed < 0) table.fail_at("seed", "the seed is 0 or more");
    for (const TomlTable& t : table.tables("tracks")) {
      k.tracks.push_back({t.text("name"), t.number("yaw_from"), t.number("yaw_below")});
      if (!(k.tracks.back().from < k.tracks.back().below))
        t.fail_at("yaw_below", "is not above yaw_from");
      for (std::size_t i = 0; i + 1 < k.tracks.size(); ++i)
        if (k.tracks[i].name == k.tracks.back().name)
          t.fail_at("name", fmt::format("there is a track {} already", k.tracks[i].name));
    }
    if (k.tracks.empty()) table.fail_at("tracks", "no track is named");
  } else {
    table.fail_at("pairs_from", unknown_name_message("source of pairs", from,
                                                     std::vector<std::string>{"drawn", "list"}));
  }
  return std::make_unique<UmdfacesReader>(std::move(k));
}

}  // namespace facebench
