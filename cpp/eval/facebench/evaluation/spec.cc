#include "facebench/evaluation/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/evaluation/convention_choice.h"
#include "facebench/evaluation/embedded.h"
#include "facebench/evaluation/metric.h"
#include "facebench/io/file.h"
#include "facebench/io/sha256.h"
#include "facebench/metrics/template_fusion.h"
#include "facebench/trials/scoring.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxSpecBytes = 1 << 20;
constexpr std::size_t kMostTargets = 1000;

// A word out of a table; unknown ones are refused at their line, with "did you mean".
std::vector<std::string> folders(const TomlTable& table, std::string_view key) {
  const std::vector<std::string> result = table.texts(key);
  if (result.empty()) table.fail_at(key, "no folder is named", "'.' is the root itself.");
  for (const std::string& f : result) {
    const std::string_view below = f.starts_with("../") ? std::string_view(f).substr(3) : f;
    if (f.empty() || fs::path(f).is_absolute() ||
        (f != ".." && below.find("..") != std::string_view::npos))
      table.fail_at(key, fmt::format("'{}' is not a folder below the root or beside it", f));
  }
  return result;
}

MetricRequest metric_request(const TomlTable& table) {
  MetricRequest r;
  r.name = table.name("name", protocol_metrics());
  r.source = table.text("source", "");
  if (protocol_metrics().at(r.name).takes_targets) {
    r.targets = table.numbers("targets");
    if (r.targets.empty()) table.fail_at("targets", "no target is given");
    if (r.targets.size() > kMostTargets)
      table.fail_at("targets", fmt::format("{} targets; more than {} are not computed",
                                           r.targets.size(), kMostTargets));
    for (const double t : r.targets) {
      if (protocol_metrics().at(r.name).targets_are_ranks) {
        if (!(t >= 1 && t <= 1e6 && t == std::floor(t)))
          table.fail_at("targets", fmt::format("{} is not a rank from 1 on", t));
      } else if (!(t > 0 && t < 1)) {
        table.fail_at("targets", fmt::format("{} is not a false accept rate in (0, 1)", t));
      }
    }
  }
  return r;
}

ExpectedCounts expected_counts(const TomlTable& table) {
  ExpectedCounts e;
  e.track = table.text("track");
  for (const CountName& count : expected_count_names().entries())
    if (const std::int64_t n = table.integer(count.name, -1); n >= 0)
      e.counts.emplace_back(count.name, n);
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

GivenFaces given_faces(const TomlTable& table) {
  GivenFaces faces{table.text("file"), table.texts("columns", {}),
                   table.boolean("landmarks", false), table.texts("names", {}),
                   table.text("separator", "comma")};
  if (faces.separator != "comma" && faces.separator != "tab" && faces.separator != "blanks")
    table.fail_at("separator", fmt::format("'{}' is none of comma, tab, blanks", faces.separator));
  return faces;
}

// Protocols lie at the top; recipes and published tables in folders.
bool is_protocol(const EmbeddedFile& f) { return f.name.find('/') == std::string_view::npos; }

}  // namespace

std::int64_t ExpectedCounts::of(std::string_view name) const {
  for (const auto& [key, value] : counts)
    if (key == name) return value;
  return -1;
}

const Table<CountName>& expected_count_names() {
  static const Table<CountName> table("count", {{"comparisons", "comparisons"},
                                                {"genuine", "genuine comparisons"},
                                                {"impostor", "impostor comparisons"},
                                                {"folds", "folds"},
                                                {"rows", "rows"},
                                                {"columns", "columns"},
                                                {"subjects", "subjects"},
                                                {"gallery", "entries in the gallery"},
                                                {"probes", "probes"},
                                                {"mated", "mated probes"},
                                                {"non_mated", "non-mated probes"},
                                                {"templates", "templates"},
                                                {"samples", "images"},
                                                {"identities", "people"}});
  return table;
}

std::vector<std::pair<std::string, std::int64_t>> track_counts(const Track& track,
                                                               const TrialSet& trials) {
  const auto [comparisons, genuine] = track.trials->size(trials);
  const Templates& t = trials.templates;
  std::unordered_set<std::int32_t> samples, people;
  const std::vector<std::int32_t> units = track.trials->units();
  for (const std::int32_t u : units) {
    people.insert(trials.unit_identity(u));
    if (t.size() == 0) {
      samples.insert(u);
      continue;
    }
    const auto unit = static_cast<std::size_t>(u);
    samples.insert(t.sample.begin() + t.begin[unit], t.sample.begin() + t.begin[unit + 1]);
  }
  std::vector<std::pair<std::string, std::int64_t>> counts = {
      {"comparisons", comparisons},
      {"genuine", genuine},
      {"impostor", comparisons - genuine},
      {"templates", t.size() == 0 ? 0 : static_cast<std::int64_t>(units.size())},
      {"samples", static_cast<std::int64_t>(samples.size())},
      {"identities", static_cast<std::int64_t>(people.size())}};
  for (auto& count : track.trials->counts(trials)) counts.push_back(std::move(count));
  return counts;
}

ProtocolSpec parse_protocol(std::string_view text, std::string_view file) {
  if (text.size() > kMaxSpecBytes)
    fail(file, fmt::format("a protocol of {} bytes; more than {} are not read", text.size(),
                           kMaxSpecBytes));
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
  s.match = data.name("match", name_matchings());

  if (const auto table = top.optional_table("faces")) s.faces = given_faces(*table);

  const TomlTable reader = top.table("reader");
  s.reader_name = reader.name("name", trial_readers());
  s.reader = trial_readers().at(s.reader_name).make(reader);

  const TomlTable evaluation = top.table("evaluation");
  s.convention = evaluation.name("convention", conventions());
  for (const ConventionRule& rule : convention_rules())
    if (evaluation.has(rule.name)) {
      const std::string chosen = evaluation.text(rule.name);
      if (const std::string wrong = rule.unknown(chosen); !wrong.empty())
        evaluation.fail_at(rule.name, wrong);
      s.rules.emplace_back(rule.name, chosen);
    }
  if (evaluation.has("fusion")) s.fusion = evaluation.name("fusion", template_fusions());
  s.summary = evaluation.text("summary", "none");
  if (s.summary != "none" && s.summary != "mean" && s.summary != "mean_less_sd")
    evaluation.fail_at("summary",
                       fmt::format("'{}' is not 'none', 'mean' or 'mean_less_sd'", s.summary));
  s.interval = evaluation.name("interval", interval_methods());
  s.failed_enrolments = evaluation.name("failed_enrolments", failure_policies());

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

std::vector<std::string> differences_from_official(const ProtocolSpec& spec,
                                                   const TrialSet& trials) {
  std::vector<std::string> result;
  for (const ExpectedCounts& e : spec.expected) {
    const auto track = std::ranges::find(trials.tracks, e.track, &Track::name);
    if (track == trials.tracks.end()) {
      result.push_back(fmt::format("Not the official list: there is no track {}.", e.track));
      continue;
    }
    const auto counts = track_counts(*track, trials);
    std::vector<std::string> wrong;
    for (const auto& [name, official] : e.counts) {
      const auto count = std::ranges::find(counts, name, [](const auto& c) { return c.first; });
      const std::int64_t n = count == counts.end() ? 0 : count->second;
      if (n != official)
        wrong.push_back(fmt::format("{} {}, {} {}", n, expected_count_names().at(name).doc,
                                    wrong.empty() ? "the official one" : "not", official));
    }
    if (!wrong.empty())
      result.push_back(
          fmt::format("Not the official list: track {} has {}.", e.track, fmt::join(wrong, "; ")));
  }
  return result;
}

}  // namespace facebench
