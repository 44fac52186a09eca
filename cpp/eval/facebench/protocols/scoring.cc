#include "facebench/protocols/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/metrics/template_fusion.h"

namespace facebench {
namespace {

// File name without folder and last extension; a leading point is part of the name. What follows a
// '#' (one of several faces) stays.
std::string stem(const std::string& name) {
  const std::size_t slash = name.find_last_of('/');
  std::string file = slash == std::string::npos ? name : name.substr(slash + 1);
  const std::string face = file.substr(std::min(file.find_last_of('#'), file.size()));
  file.resize(file.size() - face.size());
  const std::size_t point = file.find_last_of('.');
  if (point != std::string::npos && point > 0) file.resize(point);
  return file + face;
}

std::string_view text_of(std::span<const std::string> names) {
  return names.empty() ? std::string_view("(none)") : std::string_view(names.front());
}

// Where one of the given names stands among the listed ones, whose keys these are; -1: nowhere.
using Positions = std::unordered_map<std::string, std::int64_t>;

std::int64_t find_listed(const Positions& listed, const std::string& name,
                         std::string_view matching) {
  const auto at = [&](const std::string& key) {
    const auto entry = listed.find(key);
    return entry == listed.end() ? std::int64_t{-1} : entry->second;
  };
  if (matching == "stem") return at(stem(name));
  std::int64_t position = at(name);
  if (matching != "suffix") return position;
  for (std::size_t slash = name.find('/'); position < 0 && slash != std::string::npos;
       slash = name.find('/', slash + 1))
    position = at(name.substr(slash + 1));
  return position;
}

// Another way of matching under which given names are found, as advice; else what names are.
std::string other_matching(std::span<const std::string> listed, std::span<const std::string> known,
                           std::string_view matching) {
  for (const std::string& other : name_matchings().names()) {
    if (other == matching) continue;
    Positions keys;
    for (const std::string& name : listed) keys.try_emplace(other == "stem" ? stem(name) : name);
    if (keys.size() < listed.size()) continue;  // several would answer to one name
    const auto matches = std::ranges::count_if(
        known, [&](const std::string& name) { return find_listed(keys, name, other) >= 0; });
    if (matches > 0) return fmt::format("By match={} {} of them are found.", other, matches);
  }
  return "Names are paths relative to the image folder.";
}

}  // namespace

const Table<NameMatching>& name_matchings() {
  static const Table<NameMatching> table(
      "name matching", {{"exact", "the whole name, path and extension included"},
                        {"stem", "the file name without folder and last extension"},
                        {"suffix", "a given name ends with the list's, folders in front of it"}});
  return table;
}

std::vector<std::int64_t> match_names(std::span<const std::string> listed,
                                      std::span<const std::string> known,
                                      std::string_view matching) {
  const bool by_stem = name_matchings().at(matching).name == "stem";
  const auto key = [&](const std::string& name) { return by_stem ? stem(name) : name; };
  Positions positions;
  positions.reserve(listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto [old, added] = positions.try_emplace(key(listed[i]), static_cast<std::int64_t>(i));
    if (!added)
      fail("sample names",
           fmt::format("the list's {} and {} cannot be told apart by {} match",
                       listed[static_cast<std::size_t>(old->second)], listed[i], matching));
  }
  std::vector<std::int64_t> result(listed.size(), -1);
  bool any = false;
  for (std::size_t j = 0; j < known.size(); ++j) {
    const std::int64_t at = find_listed(positions, known[j], matching);
    if (at < 0) continue;
    std::int64_t& row = result[static_cast<std::size_t>(at)];
    if (row >= 0)
      fail("sample names",
           fmt::format("{} is ambiguous: rows {} ({}) and {} ({}) both answer to it by {} match",
                       listed[static_cast<std::size_t>(at)], row,
                       known[static_cast<std::size_t>(row)], j, known[j], matching),
           "Every sample may be there once.");
    row = static_cast<std::int64_t>(j);
    any = true;
  }
  if (!any && !listed.empty())
    fail("sample names",
         fmt::format("none of the {} names in the list is among the {} given; the list has names "
                     "like {}, given were names like {}",
                     listed.size(), known.size(), text_of(listed), text_of(known)),
         other_matching(listed, known, matching));
  return result;
}

double failed_score(std::span<const double> scores) {
  double lowest = -1;
  for (const double s : scores) lowest = std::min(lowest, s);
  return lowest;
}

std::vector<SampleStatus> unit_status(const TrialSet& trials,
                                      std::span<const SampleStatus> sample_status) {
  const Templates& t = trials.templates;
  if (t.size() == 0) return {sample_status.begin(), sample_status.end()};
  std::vector<SampleStatus> result;
  result.reserve(t.size());
  for (std::size_t k = 0; k < t.size(); ++k) {
    const auto samples =
        std::span(t.sample).subspan(static_cast<std::size_t>(t.begin[k]),
                                    static_cast<std::size_t>(t.begin[k + 1] - t.begin[k]));
    const auto status = [&](std::int32_t s) { return sample_status[static_cast<std::size_t>(s)]; };
    const bool any =
        std::ranges::any_of(samples, [&](std::int32_t s) { return status(s) == SampleStatus::ok; });
    result.push_back(any ? SampleStatus::ok : status(samples.front()));
  }
  return result;
}

std::vector<std::uint8_t> failed_units(std::span<const SampleStatus> unit_status) {
  std::vector<std::uint8_t> failed;
  if (std::ranges::all_of(unit_status, [](SampleStatus s) { return s == SampleStatus::ok; }))
    return failed;
  for (const SampleStatus s : unit_status) failed.push_back(s != SampleStatus::ok);
  return failed;
}

UnitEmbeddings unit_embeddings(const TrialSet& trials, const EmbeddingSet& embeddings,
                               std::string_view matching, std::string_view fusion, const Job& job) {
  // The row of each sample that has an embedding, else -1.
  std::vector<std::int64_t> rows = match_names(trials.names, embeddings.names, matching);
  const std::int64_t dim = embeddings.dim;
  const Templates& templates = trials.templates;
  UnitEmbeddings result;
  result.dim = dim;
  for (std::int64_t& row : rows) {
    const SampleStatus status =
        row < 0 ? SampleStatus::missing : embeddings.status[static_cast<std::size_t>(row)];
    if (status != SampleStatus::ok) row = -1;
    result.sample_status.push_back(status);
  }
  result.status = unit_status(trials, result.sample_status);
  result.values.resize(result.size() * static_cast<std::size_t>(dim), 0.0f);
  result.identity = trials.unit_identities();
  const TemplateFusion* rule = templates.size() ? &template_fusions().at(fusion) : nullptr;
  if (rule && rule->detector_scores && templates.score.empty())
    fail("the lists", fmt::format("give no detector scores, which the fusion '{}' needs", fusion),
         "Choose a fusion without them: facebench list fusions.");

  const auto check = [&](std::int64_t row) {
    // The products of two floats are exact in double and cannot overflow it, so a sum that is not
    // finite means a value that is not.
    double squared = 0;
    for (const float v : embeddings.row(static_cast<std::size_t>(row)))
      squared += static_cast<double>(v) * static_cast<double>(v);
    if (!std::isfinite(squared) || squared == 0)
      fail(fmt::format("embedding of {} (row {})", embeddings.names[static_cast<std::size_t>(row)],
                       row),
           squared == 0 ? "is zero and has no direction" : "holds a value that is not finite",
           "A sample that could not be enrolled has another status than ok.");
  };
  const auto fill = [&](std::size_t unit) {
    float* out = result.values.data() + unit * static_cast<std::size_t>(dim);
    if (!rule) {
      const std::int64_t row = rows[unit];
      if (row < 0) return;
      check(row);
      std::ranges::copy(embeddings.row(static_cast<std::size_t>(row)), out);
      return;
    }
    std::vector<float> fused;
    std::vector<std::int32_t> media;
    std::vector<float> scores;
    for (auto i = static_cast<std::size_t>(templates.begin[unit]);
         i < static_cast<std::size_t>(templates.begin[unit + 1]); ++i) {
      const std::int64_t row = rows[static_cast<std::size_t>(templates.sample[i])];
      if (row < 0) continue;
      check(row);
      const auto values = embeddings.row(static_cast<std::size_t>(row));
      fused.insert(fused.end(), values.begin(), values.end());
      media.push_back(templates.medium[i]);
      if (rule->detector_scores) scores.push_back(templates.score[i]);
    }
    if (media.empty()) return;
    try {
      std::ranges::transform(fuse_template(*rule, fused, media, scores), out,
                             [](double v) { return static_cast<float>(v); });
    } catch (const std::invalid_argument& e) {
      fail(fmt::format("template {}", templates.names[unit]), e.what());
    }
  };
  const auto units = static_cast<std::int64_t>(result.size());
  Stage stage(job, rule ? "fuse templates" : "read embeddings", units,
              rule ? "templates" : "samples");
  constexpr std::int64_t block = 256;
  parallel_for((units + block - 1) / block, job, [&](std::int64_t b, int) {
    for (std::int64_t u = b * block; u < std::min(units, (b + 1) * block); ++u)
      fill(static_cast<std::size_t>(u));
  });
  stage.update(units);
  return result;
}

}  // namespace facebench
