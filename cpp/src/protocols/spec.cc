#include "facebench/protocols/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/io/sha256.h"
#include "facebench/protocols/embedded.h"
#include "facebench/protocols/measures.h"
#include "facebench/protocols/scoring.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxSpecBytes = 1 << 20;

// A word out of a table; unknown ones are refused at their line, with "did you mean".
template <class Entry>
std::string word(const TomlTable& table, std::string_view key, const Table<Entry>& known) {
  const std::string value = table.text(key);
  if (!known.find(value))
    table.fail_at(key, unknown_name_message(known.kind(), value, known.names()));
  return value;
}

std::vector<std::string> folders(const TomlTable& table, std::string_view key) {
  const std::vector<std::string> result = table.texts(key);
  if (result.empty()) table.fail_at(key, "no folder is named", "'.' is the root itself.");
  for (const std::string& f : result)
    if (f.empty() || fs::path(f).is_absolute() || f.find("..") != std::string::npos)
      table.fail_at(key, fmt::format("'{}' is not a folder below the root", f));
  return result;
}

MetricRequest metric_request(const TomlTable& table) {
  MetricRequest r;
  r.name = word(table, "name", protocol_metrics());
  r.source = table.text("source", "");
  if (protocol_metrics().at(r.name).takes_targets) {
    r.targets = table.numbers("targets");
    if (r.targets.empty()) table.fail_at("targets", "no target is given");
    for (const double t : r.targets)
      if (!(t > 0 && t < 1))
        table.fail_at("targets", fmt::format("{} is not a false accept rate in (0, 1)", t));
  }
  return r;
}

ExpectedCounts expected_counts(const TomlTable& table) {
  ExpectedCounts e;
  e.track = table.text("track");
  e.comparisons = table.integer("comparisons", -1);
  e.genuine = table.integer("genuine", -1);
  e.impostor = table.integer("impostor", -1);
  e.folds = table.integer("folds", -1);
  e.samples = table.integer("samples", -1);
  e.identities = table.integer("identities", -1);
  return e;
}

ProtocolAbout about(const TomlTable& table) {
  ProtocolAbout a;
  a.files = table.texts("files", {});
  a.ask = table.texts("ask", {});
  a.failures = table.text("failures", "");
  a.paper = table.texts("paper", {});
  a.notes = table.texts("notes", {});
  return a;
}

// Protocols lie at the top; recipes and published tables in folders.
bool is_protocol(const EmbeddedFile& f) { return f.name.find('/') == std::string_view::npos; }

std::vector<fs::path> candidates(const fs::path& given, const fs::path& root,
                                 const std::vector<std::string>& folders, std::string_view what) {
  if (!given.empty()) return {given};
  if (root.empty())
    throw std::invalid_argument(fmt::format("neither a root nor a folder of {} is given", what));
  std::vector<fs::path> result;
  for (const std::string& f : folders) result.push_back(f == "." ? root : root / f);
  return result;
}

std::string joined(const std::vector<fs::path>& paths) {
  std::string text;
  for (const fs::path& p : paths) text += (text.empty() ? "" : ", ") + p.string();
  return text;
}

}  // namespace

ProtocolSpec parse_protocol(std::string_view text, std::string_view file) {
  const TomlTable top = parse_toml(text, file);
  ProtocolSpec s;
  s.id = top.text("id");
  s.version = top.integer("version");
  s.title = top.text("title");
  s.description = top.text("description", "");
  s.citations = top.texts("citations", {});
  if (s.id.empty()) top.fail_at("id", "the id is empty");
  if (const auto table = top.optional_table("about")) s.about = about(*table);

  const TomlTable data = top.table("data");
  s.image_folders = folders(data, "images");
  s.list_folders = folders(data, "lists");
  s.match = word(data, "match", name_matchings());

  const TomlTable reader = top.table("reader");
  s.reader_name = word(reader, "name", trial_readers());
  s.reader = trial_readers().at(s.reader_name).make(reader);

  const TomlTable evaluation = top.table("evaluation");
  s.convention = word(evaluation, "convention", conventions());
  s.interval = word(evaluation, "interval", interval_methods());
  s.failed_enrolments = word(evaluation, "failed_enrolments", failure_policies());

  for (const TomlTable& t : top.tables("metrics")) {
    s.metrics.push_back(metric_request(t));
    for (std::size_t i = 0; i + 1 < s.metrics.size(); ++i)
      if (s.metrics[i].name == s.metrics.back().name)
        t.fail_at("name", fmt::format("{} is asked for twice", s.metrics[i].name));
  }
  for (const TomlTable& t : top.optional_tables("expected"))
    s.expected.push_back(expected_counts(t));
  top.finish();
  s.text = text;
  s.sha256 = sha256_hex(text);
  return s;
}

std::vector<std::string> protocol_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& f : embedded_files())
    if (is_protocol(f)) names.emplace_back(f.name);
  return names;
}

ProtocolSpec load_protocol(const std::string& name_or_path) {
  if (name_or_path.ends_with(".toml"))
    return parse_protocol(read_file(name_or_path, kMaxSpecBytes), name_or_path);
  if (const EmbeddedFile* f = find_embedded(name_or_path); f && is_protocol(*f))
    return parse_protocol(f->text, name_or_path + ".toml");
  throw std::invalid_argument(unknown_name_message("protocol", name_or_path, protocol_names()));
}

fs::path find_lists(const ProtocolSpec& spec, const DataPlaces& places) {
  const auto tried = candidates(places.lists, places.root, spec.list_folders, "lists");
  const std::vector<std::string> files = spec.reader->files();
  for (const fs::path& folder : tried) {
    std::error_code ignored;
    if (std::ranges::all_of(
            files, [&](const auto& f) { return fs::is_regular_file(folder / f, ignored); }))
      return folder;
  }
  std::string names;
  for (const std::string& f : files) names += (names.empty() ? "" : ", ") + f;
  fail(fmt::format("protocol {}", spec.id),
       fmt::format("no folder holds the list {}; looked in {}", names, joined(tried)),
       "Give the data set's root, or the folder of the lists.");
}

TrialSet read_trials(const ProtocolSpec& spec, const DataPlaces& places) {
  return spec.reader->read(find_lists(spec, places));
}

fs::path find_images(const ProtocolSpec& spec, const TrialSet& trials, const DataPlaces& places) {
  const auto tried = candidates(places.images, places.root, spec.image_folders, "images");
  for (const fs::path& folder : tried) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) continue;
    for (const std::string& name : trials.names)
      if (fs::exists(folder / name, ignored)) return folder;
  }
  fail(fmt::format("protocol {}", spec.id),
       fmt::format("none of the {} images that the lists name exists; looked for {} in {}",
                   trials.names.size(), trials.names.empty() ? "" : trials.names.front(),
                   joined(tried)),
       "Give the data set's root, or the folder of the images.");
}

std::vector<std::string> differences_from_official(const ProtocolSpec& spec,
                                                   const TrialSet& trials) {
  std::vector<std::string> result;
  for (const ExpectedCounts& e : spec.expected) {
    const auto track = std::ranges::find(trials.tracks, e.track, &Track::name);
    if (track == trials.tracks.end()) {
      result.push_back(fmt::format("Not the official list: there is no track {}.", e.track));
      continue;
    }
    std::unordered_set<std::int32_t> samples, people;
    for (const Comparison& c : track->comparisons)
      for (const std::int32_t s : {c.first, c.second}) {
        samples.insert(s);
        people.insert(trials.identity[static_cast<std::size_t>(s)]);
      }
    const auto compare = [&](std::string_view what, std::int64_t wanted, std::int64_t found) {
      if (wanted >= 0 && wanted != found)
        result.push_back(
            fmt::format("Not the official list: track {} has {} {}, the official one {}.", e.track,
                        found, what, wanted));
    };
    const auto n = static_cast<std::int64_t>(track->comparisons.size());
    compare("comparisons", e.comparisons, n);
    compare("genuine comparisons", e.genuine, track->genuine_count());
    compare("impostor comparisons", e.impostor, n - track->genuine_count());
    compare("folds", e.folds, track->fold_count());
    compare("images", e.samples, static_cast<std::int64_t>(samples.size()));
    compare("people", e.identities, static_cast<std::int64_t>(people.size()));
  }
  return result;
}

}  // namespace facebench
