#include "facebench/protocols/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "facebench/core/error.h"

namespace facebench {
namespace {

// File name without folder and last extension; a leading point is part of the name.
std::string stem(const std::string& name) {
  const std::size_t slash = name.find_last_of('/');
  std::string file = slash == std::string::npos ? name : name.substr(slash + 1);
  const std::size_t point = file.find_last_of('.');
  if (point != std::string::npos && point > 0) file.resize(point);
  return file;
}

std::string_view text_of(std::span<const std::string> names) {
  return names.empty() ? std::string_view("(none)") : std::string_view(names.front());
}

}  // namespace

const Table<NameMatching>& name_matchings() {
  static const Table<NameMatching> table(
      "name matching", {{"exact", "the whole name, path and extension included"},
                        {"stem", "the file name without folder and last extension"}});
  return table;
}

std::vector<std::int64_t> match_names(std::span<const std::string> wanted,
                                      std::span<const std::string> known,
                                      std::string_view matching) {
  const bool by_stem = name_matchings().at(matching).name == "stem";
  const auto key = [&](const std::string& name) { return by_stem ? stem(name) : name; };
  std::unordered_map<std::string, std::int64_t> wanted_at;
  wanted_at.reserve(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto [old, added] = wanted_at.try_emplace(key(wanted[i]), static_cast<std::int64_t>(i));
    if (!added)
      fail("sample names",
           fmt::format("the list's {} and {} cannot be told apart by {} match",
                       wanted[static_cast<std::size_t>(old->second)], wanted[i], matching));
  }
  std::vector<std::int64_t> result(wanted.size(), -1);
  bool any = false;
  for (std::size_t j = 0; j < known.size(); ++j) {
    const auto found = wanted_at.find(key(known[j]));
    if (found == wanted_at.end()) continue;
    std::int64_t& row = result[static_cast<std::size_t>(found->second)];
    if (row >= 0)
      fail("sample names",
           fmt::format("{} is ambiguous: rows {} ({}) and {} ({}) both answer to it by {} match",
                       wanted[static_cast<std::size_t>(found->second)], row,
                       known[static_cast<std::size_t>(row)], j, known[j], matching),
           "Every sample may be there once.");
    row = static_cast<std::int64_t>(j);
    any = true;
  }
  if (!any && !wanted.empty())
    fail("sample names",
         fmt::format("none of the {} names in the list is among the {} given; the list has names "
                     "like {}, given were names like {}",
                     wanted.size(), known.size(), text_of(wanted), text_of(known)),
         "Names are paths relative to the image folder.");
  return result;
}

SampleRows find_samples(const TrialSet& trials, const EmbeddingSet& embeddings,
                        std::string_view matching) {
  SampleRows result;
  result.row = match_names(trials.names, embeddings.names, matching);
  result.status.reserve(result.row.size());
  for (std::int64_t& row : result.row) {
    const SampleStatus status =
        row < 0 ? SampleStatus::missing : embeddings.status[static_cast<std::size_t>(row)];
    if (status != SampleStatus::ok) row = -1;
    result.status.push_back(status);
  }
  return result;
}

double failed_score(std::span<const double> scores) {
  double lowest = -1;
  for (const double s : scores) lowest = std::min(lowest, s);
  return lowest;
}

std::vector<double> cosine_scores(const Track& track, const SampleRows& samples,
                                  const EmbeddingSet& embeddings, const Job& job) {
  const std::int64_t dim = embeddings.dim;
  const auto row_of = [&](std::int32_t sample) {
    return embeddings.values.data() + samples.row[static_cast<std::size_t>(sample)] * dim;
  };
  const auto dot = [dim](const float* a, const float* b) {
    double sum = 0;
    for (std::int64_t k = 0; k < dim; ++k)
      sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
    return sum;
  };

  Stage stage(job, "score " + track.name, static_cast<std::int64_t>(track.comparisons.size()),
              "comparisons");
  // The products of two floats are exact in double and cannot overflow it, so a sum that is not
  // finite means a value that is not.
  const auto samples_count = static_cast<std::int64_t>(samples.row.size());
  std::vector<double> length(samples.row.size(), 0.0);
  parallel_for((samples_count + 255) / 256, job, [&](std::int64_t block, int) {
    for (std::int64_t i = block * 256; i < std::min(samples_count, block * 256 + 256); ++i) {
      const std::int64_t row = samples.row[static_cast<std::size_t>(i)];
      if (row < 0) continue;
      const float* values = row_of(static_cast<std::int32_t>(i));
      const double squared = dot(values, values);
      if (!std::isfinite(squared) || squared == 0)
        fail(fmt::format("embedding of {} (row {})",
                         embeddings.names[static_cast<std::size_t>(row)], row),
             squared == 0 ? "is zero and has no direction" : "holds a value that is not finite",
             "A sample that could not be enrolled has another status than ok.");
      length[static_cast<std::size_t>(i)] = std::sqrt(squared);
    }
  });

  const auto n = static_cast<std::int64_t>(track.comparisons.size());
  std::vector<double> scores(track.comparisons.size());
  parallel_for((n + 1023) / 1024, job, [&](std::int64_t block, int) {
    for (std::int64_t k = block * 1024; k < std::min(n, block * 1024 + 1024); ++k) {
      const auto [a, b] = track.comparisons[static_cast<std::size_t>(k)];
      const double both = length[static_cast<std::size_t>(a)] * length[static_cast<std::size_t>(b)];
      scores[static_cast<std::size_t>(k)] =
          both == 0 ? failed_score({}) : std::clamp(dot(row_of(a), row_of(b)) / both, -1.0, 1.0);
    }
  });
  stage.update(n);
  return scores;
}

}  // namespace facebench
