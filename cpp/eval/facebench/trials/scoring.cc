#include "facebench/trials/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
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

// The path without its last extension.
std::string path_stem(const std::string& name) {
  return name.substr(0, name.find_last_of('/') + 1) + stem(name);  // npos + 1 = 0
}

std::string key_of(const std::string& name, std::string_view matching) {
  const std::string text = compared_name(name);
  return matching == "stem" ? stem(text) : matching == "path_stem" ? path_stem(text) : text;
}

std::string_view text_of(std::span<const std::string> names) {
  return names.empty() ? std::string_view("(none)") : std::string_view(names.front());
}

// Where one of the given names stands among the listed ones, whose keys these are; -1: nowhere.
using Positions = std::unordered_map<std::string, std::int64_t>;

std::int64_t find_listed(const Positions& listed, const std::string& key,
                         std::string_view matching) {
  const auto at = [&](const std::string& name) {
    const auto entry = listed.find(name);
    return entry == listed.end() ? std::int64_t{-1} : entry->second;
  };
  std::int64_t position = at(key);
  if (matching != "suffix") return position;
  for (std::size_t slash = key.find('/'); position < 0 && slash != std::string::npos;
       slash = key.find('/', slash + 1))
    position = at(key.substr(slash + 1));
  return position;
}

// The listed ones that a given name answers to, with such a one; `as` may change both keys.
using Answers = std::unordered_map<std::int64_t, std::int64_t>;
template <class As>
Answers answers(std::span<const std::string> listed, std::span<const std::string> known,
                std::string_view matching, As as) {
  Positions keys;
  for (std::size_t i = 0; i < listed.size(); ++i)
    if (!keys.try_emplace(as(key_of(listed[i], matching)), static_cast<std::int64_t>(i)).second)
      return {};  // several would answer to one name
  Answers found;
  for (std::size_t j = 0; j < known.size(); ++j)
    if (const auto at = find_listed(keys, as(key_of(known[j], matching)), matching); at >= 0)
      if (!found.try_emplace(at, static_cast<std::int64_t>(j)).second) return {};
  return found;
}

}  // namespace

const Table<NameMatching>& name_matchings() {
  static const Table<NameMatching> table(
      "name matching", {{"exact", "the whole name, path and extension included"},
                        {"stem", "the file name without folder and last extension"},
                        {"suffix", "a given name ends with the list's, folders in front of it"},
                        {"path_stem", "the whole path without its last extension"}});
  return table;
}

std::string missing_names_advice(std::span<const std::string> listed,
                                 std::span<const std::string> known, std::string_view matching) {
  const auto as_is = [](std::string key) { return key; };
  const auto lower = [](const std::string& key) { return lower_ascii(key); };
  const auto of = [&](std::string_view how, bool capitals) {
    return capitals ? answers(listed, known, how, lower) : answers(listed, known, how, as_is);
  };
  const std::size_t now = of(matching, false).size();
  for (const bool capitals : {false, true}) {
    std::string_view best;
    Answers most;
    for (const std::string_view how : {"exact", "path_stem", "suffix", "stem"})
      if (Answers found = of(how, capitals); found.size() > std::max(now, most.size())) {
        best = how;
        most = std::move(found);
      }
    if (best.empty()) continue;
    if (!capitals) return fmt::format("By match={} {} of them are found.", best, most.size() - now);
    const auto first = std::ranges::find_if(most, [&](const auto& pair) {
      return compared_name(listed[static_cast<std::size_t>(pair.first)]) !=
             compared_name(known[static_cast<std::size_t>(pair.second)]);
    });
    if (first == most.end()) continue;
    const auto& [at, row] = *first;
    return fmt::format("{} of them are there in other capitals, such as {} for {}: rename them{}.",
                       most.size() - now, known[static_cast<std::size_t>(row)],
                       listed[static_cast<std::size_t>(at)],
                       best == matching ? "" : fmt::format(" and say match={}", best));
  }
  // The list's names may have folders in front that the given ones lack.
  Positions given;
  for (const std::string& name : known) given.try_emplace(compared_name(name), 0);
  std::size_t shorter = 0;
  std::string folders;
  for (const std::string& name : listed) {
    const std::string key = compared_name(name);
    for (std::size_t slash = key.find('/'); slash != std::string::npos;
         slash = key.find('/', slash + 1)) {
      if (!given.contains(key.substr(slash + 1))) continue;
      if (shorter++ == 0) folders = key.substr(0, slash + 1);
      break;
    }
  }
  if (shorter > 0)
    return fmt::format(
        "{} of them are there without the list's folders in front: put {} before "
        "the names of the embeddings.",
        shorter, folders);
  return "Names are paths relative to the image folder.";
}

std::vector<std::int64_t> match_names(std::span<const std::string> listed,
                                      std::span<const std::string> known,
                                      std::string_view matching) {
  const std::string& how = name_matchings().at(matching).name;
  Positions positions;
  positions.reserve(listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto [old, added] =
        positions.try_emplace(key_of(listed[i], how), static_cast<std::int64_t>(i));
    if (!added)
      fail("sample names",
           fmt::format("the list's {} and {} cannot be told apart by {} match",
                       listed[static_cast<std::size_t>(old->second)], listed[i], matching),
           missing_names_advice(listed, known, matching));
  }
  std::vector<std::int64_t> result(listed.size(), -1);
  bool any = false;
  for (std::size_t j = 0; j < known.size(); ++j) {
    const std::int64_t at = find_listed(positions, key_of(known[j], how), how);
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
         missing_names_advice(listed, known, matching));
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
    if (row < 0) result.absent.push_back(static_cast<std::int32_t>(result.sample_status.size()));
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
