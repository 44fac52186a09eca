#include "protocols/tinyface.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/core/natural_order.h"
#include "facebench/io/file.h"
#include "facebench/io/mat5.h"
#include "facebench/io/sha256.h"
#include "facebench/protocols/identification_trials.h"
#include "protocols/sample_names.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGalleryList = "gallery_match_img_ID_pairs.mat";
constexpr const char* kProbeList = "probe_img_ID_pairs.mat";
constexpr const char* kDistractors = "Gallery_Distractor";

class TinyfaceReader : public TrialReader {
 public:
  explicit TinyfaceReader(TinyfaceOptions options) : options_(std::move(options)) {}

  Json options() const override { return options_to_json(options_); }
  std::vector<std::string> files() const override { return {kGalleryList, kProbeList}; }
  std::vector<std::string> missing(const fs::path& lists) const override {
    std::vector<std::string> absent = TrialReader::missing(lists);
    std::error_code ignored;
    if (!fs::is_directory(lists / kDistractors, ignored)) absent.emplace_back(kDistractors);
    return absent;
  }

  TrialSet read(const fs::path& lists) const override {
    Blemishes found(lists);
    TrialSet set;
    TrialSetBuilder builder(set);
    IdentificationTrials trials;
    trials.gallery = listed(lists, {kGalleryList, "gallery", "Gallery_Match"}, set, builder, found);
    trials.probes = listed(lists, {kProbeList, "probe", "Probe"}, set, builder, found);
    Sha256 names;
    for (const std::string& name : distractors(lists / kDistractors)) {
      const std::string sample = fmt::format("{}/{}", kDistractors, name);
      trials.gallery.push_back(builder.sample(sample, sample));
      names.update(name + "\n");
    }
    set.tracks.push_back({options_.track, std::move(trials)});
    set.lists.push_back({"names of distractors", lists / kDistractors, names.hex(), {}});
    set.blemishes = found.found();
    set.check();
    return set;
  }

 private:
  struct List {
    std::string file, what, folder;
  };

  // The samples of a list: a cell array of names, WHAT_set, and as many people, WHAT_ids.
  static std::vector<std::int32_t> listed(const fs::path& lists, const List& list, TrialSet& set,
                                          TrialSetBuilder& builder, Blemishes& found) {
    const fs::path path = lists / list.file;
    const std::string bytes = read_file(path);
    const auto variables = parse_mat5(std::as_bytes(std::span(bytes)), path.string());
    const auto variable = [&](const std::string& name) -> const MatArray& {
      const auto at = variables.find(name);
      if (at == variables.end())
        fail(path.string(), fmt::format("there is no variable '{}'", name));
      return at->second;
    };
    const std::string name_set = list.what + "_set", id_set = list.what + "_ids";
    std::vector<std::string> names;
    for (const auto& row : mat_text_rows(variable(name_set), path.string() + ": " + name_set))
      names.insert(names.end(), row.begin(), row.end());
    const std::vector<double>& ids = variable(id_set).numbers;
    if (names.empty() || ids.size() != names.size())
      fail(path.string(),
           fmt::format("{} names in {} and {} people in {}", names.size(), name_set, ids.size(),
                       id_set),
           "Get the file again.");
    std::vector<std::int32_t> samples;
    std::unordered_set<std::string> seen;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto where = [&] {
        return ListPlace{path.string(), 0, fmt::format("{}, entry {}", name_set, i + 1)};
      };
      const std::string name = sample_name(names[i], found, where);
      if (name.find('/') != std::string::npos)
        fail(where().text(), fmt::format("'{}' is no name of a file", name));
      if (!seen.insert(name).second) fail(where().text(), fmt::format("{} is there twice", name));
      if (!(ids[i] >= 0 && ids[i] < 1e9) || ids[i] != std::floor(ids[i]))
        fail(where().text(), fmt::format("the person is {}, no whole number", ids[i]));
      samples.push_back(
          builder.sample(fmt::format("{}/{}", list.folder, name), fmt::format("{:.0f}", ids[i])));
    }
    set.lists.push_back({list.what, path, sha256_hex(bytes), {}});
    return samples;
  }

  static std::vector<std::string> distractors(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error, ignored;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      if (it->is_regular_file(ignored) && !it->path().filename().string().starts_with("."))
        names.push_back(it->path().filename().string());
    if (error) fail(folder.string(), "cannot be read: " + error.message());
    if (names.empty()) fail(folder.string(), "there is no distractor in the folder");
    std::ranges::sort(names, natural_less);
    return names;
  }

  TinyfaceOptions options_;
};

}  // namespace

std::unique_ptr<TrialReader> make_tinyface_reader(const TomlTable& table) {
  return std::make_unique<TinyfaceReader>(read_options<TinyfaceOptions>(table));
}

}  // namespace facebench
