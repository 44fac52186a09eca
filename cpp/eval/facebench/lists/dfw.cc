// Disguised Faces in the Wild: a file of N names, one a line, and a mask, N lines of N numbers
// between blanks in the order of the names, that gives the kind of each pair. The protocol states
// what each number means. Only entries above the diagonal count, each unordered pair once. People
// follow from the mask: samples that genuine entries connect are one person. Folders do not tell,
// because they also hold impersonators of their subject.
// Source: Kushwaha et al., CVPR Workshops 2018, and public scripts of the challenge, which read the
// files so.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "facebench/core/disjoint_sets.h"
#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/lists/internal/list_file.h"
#include "facebench/lists/internal/mask_matrix.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/lists/internal/sample_names.h"
#include "facebench/trials/dense_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct DfwOptions {
  std::string names;
  std::string mask;
  static void describe(OptionsBuilder<DfwOptions>& o) {
    o.name("dfw", "Disguised Faces in the Wild; its tracks are [[reader.tracks]].");
    o.field("names", &DfwOptions::names, "the file of names").required = true;
    o.field("mask", &DfwOptions::mask, "the file of the mask").required = true;
  }
};

struct DfwTrackOptions {
  std::string name;
  std::vector<std::int64_t> genuine;
  std::vector<std::int64_t> impostor;
  static void describe(OptionsBuilder<DfwTrackOptions>& o) {
    o.name("a dfw track", "Which of the mask's values are a track.");
    o.field("name", &DfwTrackOptions::name, "of the track").required = true;
    o.field("genuine", &DfwTrackOptions::genuine, "the values that mean genuine", 0, 255).required =
        true;
    o.field("impostor", &DfwTrackOptions::impostor, "the values that mean impostor", 0, 255)
        .required = true;
  }
};

struct MaskTrack {
  DfwTrackOptions options;
  std::array<DenseTrials::Mask, 256> kind{};  // of each mask value
};

std::vector<std::string> read_names(const ListFile& text, Blemishes& blemishes) {
  std::vector<std::string> names;
  std::unordered_map<std::string, std::int64_t> lines;
  for (const TextLine& line : text.lines()) {
    const auto where = [&] { return text.at(line); };
    names.push_back(sample_name(line.text, blemishes, where));
    if (const auto [at, fresh] = lines.try_emplace(names.back(), line.number); !fresh)
      blemishes.add(BlemishKind::repeated_name, where, [&, at = at] {
        return fmt::format("{}, as in line {}", names.back(), at->second);
      });
  }
  if (names.size() < 2) fail(text.name(), "fewer than two names");
  return names;
}

class DfwReader : public TrialReader {
 public:
  DfwReader(DfwOptions options, std::vector<MaskTrack> tracks)
      : options_(std::move(options)), tracks_(std::move(tracks)) {}

  Json options() const override {
    Json json = options_to_json(options_);
    json["tracks"] = Json::array();
    for (const MaskTrack& t : tracks_) json["tracks"].push_back(options_to_json(t.options));
    return json;
  }
  std::vector<std::string> files() const override { return {options_.names, options_.mask}; }

  TrialSet read(const fs::path& lists) const override {
    TrialSet set;
    Blemishes blemishes(lists);
    const ListFile text(lists / options_.names, "names", blemishes);
    const std::vector<std::string> names = read_names(text, blemishes);
    const fs::path path = lists / options_.mask;
    const MaskMatrix mask =
        read_mask_matrix(path, static_cast<std::int64_t>(names.size()), blemishes);
    set.lists = {text.list(), {"mask", path, mask.sha256, {}}};

    note_oddities(mask, names, set);
    TrialSetBuilder builder(set);
    std::vector<std::int32_t> unit;  // of each row; a name that is there twice is one
    const std::vector<std::int32_t> person = people(mask, names);
    for (std::size_t i = 0; i < names.size(); ++i)
      unit.push_back(builder.sample(names[i], names[static_cast<std::size_t>(person[i])]));
    for (const MaskTrack& t : tracks_) {
      DenseTrials trials;
      trials.rows = trials.columns = unit;
      trials.triangle = true;
      trials.mask = track_mask(t, mask, person, names, path.string(), blemishes);
      set.tracks.push_back({t.options.name, std::move(trials)});
    }
    set.blemishes = blemishes.kinds();
    set.check();
    return set;
  }

 private:
  // Which values some track takes for genuine (1) or impostor (2).
  std::array<int, 256> meanings() const {
    std::array<int, 256> result{};
    for (const MaskTrack& t : tracks_) {
      for (const std::int64_t v : t.options.genuine) result[static_cast<std::size_t>(v)] |= 1;
      for (const std::int64_t v : t.options.impostor) result[static_cast<std::size_t>(v)] |= 2;
    }
    return result;
  }

  // Entries above the diagonal that no track knows (0 is what is not compared), and genuine ones
  // between two folders, which hold the images of one subject: rows and names may be out of step.
  void note_oddities(const MaskMatrix& mask, const std::vector<std::string>& names,
                     TrialSet& set) const {
    const std::array<int, 256> meaning = meanings();
    std::vector<std::string_view> folder;
    for (const std::string& name : names)
      folder.push_back(std::string_view(name).substr(0, name.rfind('/') + 1));
    std::array<std::int64_t, 256> unknown{};
    std::int64_t genuine = 0, apart = 0;
    std::string example;
    const std::size_t n = names.size();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        const std::uint8_t value = mask.values[i * n + j];
        if (meaning[value] == 0 && value != 0) ++unknown[value];
        if ((meaning[value] & 1) == 0) continue;
        ++genuine;
        if (folder[i] != folder[j] && apart++ == 0)
          example = fmt::format("{} and {} in line {}", names[i], names[j], mask.line[i]);
      }
    for (std::size_t value = 0; value < unknown.size(); ++value)
      if (unknown[value] > 0)
        set.lists.back().notes.push_back(fmt::format(
            "has {} entries above the diagonal of the value {}, which no track compares",
            unknown[value], value));
    if (apart > 0)
      set.lists.back().notes.push_back(fmt::format(
          "calls {} of {} pairs genuine that lie in two folders, first {}; its rows may be "
          "in another order than the names",
          apart, genuine, example));
  }

  // For each name the first of those that genuine entries of any track connect it with.
  std::vector<std::int32_t> people(const MaskMatrix& mask,
                                   const std::vector<std::string>& names) const {
    const std::size_t n = names.size();
    const std::array<int, 256> meaning = meanings();
    DisjointSets people(n);
    const auto connect = [&](std::size_t i, std::size_t j) {
      people.join(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j));
    };
    std::unordered_map<std::string_view, std::size_t> first;
    for (std::size_t i = 0; i < n; ++i) {
      connect(i, first.try_emplace(names[i], i).first->second);
      for (std::size_t j = i + 1; j < n; ++j)
        if ((meaning[mask.values[i * n + j]] & 1) != 0) connect(i, j);
    }
    return people.all();
  }

  static std::vector<std::uint8_t> track_mask(const MaskTrack& t, const MaskMatrix& mask,
                                              const std::vector<std::int32_t>& person,
                                              const std::vector<std::string>& names,
                                              const std::string& file, Blemishes& blemishes) {
    const std::size_t n = names.size();
    std::vector<std::uint8_t> result(n * n, DenseTrials::not_compared);
    std::int64_t genuine = 0, impostor = 0;
    std::vector<std::size_t> conflicts;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        const DenseTrials::Mask kind = t.kind[mask.values[i * n + j]];
        result[i * n + j] = kind;
        genuine += kind == DenseTrials::is_genuine;
        impostor += kind == DenseTrials::is_impostor;
        if (kind == DenseTrials::is_impostor && person[i] == person[j])
          conflicts.push_back(i * n + j);
      }
    if (genuine == 0 || impostor == 0)
      fail(file,
           fmt::format("track {} has {} genuine and {} impostor entries above the diagonal",
                       t.options.name, genuine, impostor),
           "Is this a mask with two values? Change the tracks in a copy of the protocol.");
    const auto where = [&](std::size_t k) { return ListPlace{file, mask.line[k / n], ""}; };
    const auto what = [&](std::size_t k) {
      return fmt::format("entry {} calls {} and {} impostors, but genuine entries connect them",
                         k % n + 1, names[k / n], names[k % n]);
    };
    if (10 * static_cast<std::int64_t>(conflicts.size()) > impostor)
      fail(where(conflicts.front()).text(),
           fmt::format("{}; track {} has {} such entries of {}", what(conflicts.front()),
                       t.options.name, conflicts.size(), impostor),
           "Do the values of the mask mean something else? Change the tracks in a copy of the "
           "protocol.");
    for (const std::size_t k : conflicts)
      blemishes.add(
          BlemishKind::mask_conflict, [&] { return where(k); }, [&] { return what(k); });
    return result;
  }

  DfwOptions options_;
  std::vector<MaskTrack> tracks_;
};

std::unique_ptr<TrialReader> make_dfw_reader(const TomlTable& table) {
  std::vector<MaskTrack> tracks;
  for (const TomlTable& t : table.tables("tracks")) {
    MaskTrack track{read_options<DfwTrackOptions>(t), {}};
    const auto assign = [&](std::string_view key, const std::vector<std::int64_t>& values,
                            DenseTrials::Mask kind) {
      if (values.empty()) t.fail_at(key, "no mask value is named");
      for (const std::int64_t v : values) {
        DenseTrials::Mask& at = track.kind[static_cast<std::size_t>(v)];
        if (at != DenseTrials::not_compared) t.fail_at(key, fmt::format("{} is named twice", v));
        at = kind;
      }
    };
    assign("genuine", track.options.genuine, DenseTrials::is_genuine);
    assign("impostor", track.options.impostor, DenseTrials::is_impostor);
    tracks.push_back(std::move(track));
  }
  if (tracks.empty()) table.fail_at("tracks", "no track is named");
  return std::make_unique<DfwReader>(read_options<DfwOptions>(table), std::move(tracks));
}

}  // namespace

TrialReaderEntry dfw_reader() {
  return {"dfw", "DFW's list of names and its mask, an entry for each pair of them",
          make_dfw_reader};
}

}  // namespace facebench
