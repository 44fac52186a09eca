#include "protocols/dfw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/io/text.h"
#include "facebench/protocols/dense_trials.h"
#include "protocols/mask_matrix.h"
#include "protocols/sample_names.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct MaskTrack {
  DfwTrackOptions options;
  std::array<DenseTrials::Mask, 256> kind{};  // of each mask value
};

// Adds the names; the list says what was tolerated.
TrialList read_names(const fs::path& path, std::vector<std::string>& names) {
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  const TextFile text(path);
  std::unordered_map<std::string, std::int64_t> lines;
  std::int64_t mended = 0;
  for (const TextLine& line : text.lines()) {
    std::string_view name = trim(line.text);
    while (name.starts_with(kBom)) name = trim(name.substr(kBom.size()));
    if (name.size() != line.text.size()) ++mended;
    const auto where = [&] { return at_line(text.name(), line.number); };
    names.push_back(sample_name(name, where));
    if (const auto [at, fresh] = lines.try_emplace(names.back(), line.number); !fresh)
      fail(where(), fmt::format("{} is in line {} already", names.back(), at->second));
  }
  if (names.size() < 2) fail(at_line(text.name(), 1), "fewer than two names");
  TrialList list = trial_list("names", path, text.bytes());
  if (mended > 0)
    list.notes.push_back(
        fmt::format("has {} names with blanks or a byte order mark around them", mended));
  return list;
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
    std::vector<std::string> names;
    set.lists.push_back(read_names(lists / options_.names, names));
    const auto n = static_cast<std::int64_t>(names.size());
    const MaskMatrix mask = read_mask_matrix(lists / options_.mask, n);
    set.lists.push_back({"mask", lists / options_.mask, mask.sha256, {}});
    if (mask.asymmetric > 0)
      set.lists.back().notes.push_back(
          fmt::format("has {} entries below the diagonal that differ from those above, which count",
                      mask.asymmetric));

    const std::vector<std::int32_t> person = people(mask, names.size());
    TrialSetBuilder builder(set);
    for (std::size_t i = 0; i < names.size(); ++i)
      builder.sample(names[i], names[static_cast<std::size_t>(person[i])]);
    std::vector<std::int32_t> all(names.size());
    std::iota(all.begin(), all.end(), 0);
    for (const MaskTrack& t : tracks_) {
      DenseTrials trials;
      trials.rows = trials.columns = all;
      trials.triangle = true;
      trials.mask = track_mask(t, mask, person, names, (lists / options_.mask).string());
      set.tracks.push_back({t.options.name, std::move(trials)});
    }
    set.check();
    return set;
  }

 private:
  // For each name the first of those that genuine entries of any track connect it with.
  std::vector<std::int32_t> people(const MaskMatrix& mask, std::size_t n) const {
    std::array<bool, 256> connects{};
    for (const MaskTrack& t : tracks_)
      for (const std::int64_t value : t.options.genuine)
        connects[static_cast<std::size_t>(value)] = true;
    std::vector<std::int32_t> parent(n);
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](std::int32_t s) {
      while (parent[s] != s) s = parent[s] = parent[parent[s]];
      return s;
    };
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j)
        if (connects[mask.values[i * n + j]]) {
          const std::int32_t a = root(static_cast<std::int32_t>(i)),
                             b = root(static_cast<std::int32_t>(j));
          parent[std::max(a, b)] = std::min(a, b);
        }
    for (std::size_t i = 0; i < n; ++i) parent[i] = root(static_cast<std::int32_t>(i));
    return parent;
  }

  static std::vector<std::uint8_t> track_mask(const MaskTrack& t, const MaskMatrix& mask,
                                              const std::vector<std::int32_t>& person,
                                              const std::vector<std::string>& names,
                                              const std::string& file) {
    const std::size_t n = names.size();
    std::vector<std::uint8_t> result(n * n, DenseTrials::not_compared);
    std::int64_t genuine = 0, impostor = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        const DenseTrials::Mask kind = t.kind[mask.values[i * n + j]];
        result[i * n + j] = kind;
        genuine += kind == DenseTrials::is_genuine;
        impostor += kind == DenseTrials::is_impostor;
        if (kind == DenseTrials::is_impostor && person[i] == person[j])
          fail(at_line(file, static_cast<std::int64_t>(i) + 1),
               fmt::format("entry {} calls {} and {} impostors, but genuine entries connect them",
                           j + 1, names[i], names[j]));
      }
    if (genuine == 0 || impostor == 0)
      fail(file,
           fmt::format("track {} has {} genuine and {} impostor entries above the diagonal",
                       t.options.name, genuine, impostor),
           "Is this a mask with two values? Change the tracks in a copy of the protocol.");
    return result;
  }

  DfwOptions options_;
  std::vector<MaskTrack> tracks_;
};

}  // namespace

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

}  // namespace facebench
