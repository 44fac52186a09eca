#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facebench/io/json.h"
#include "facebench/metrics/discard.h"
#include "facebench/trials/trials.h"

namespace facebench {

// What becomes of a run's FNMR when samples of low quality are left out.

// A quality of named samples, NaN where it is not known.
struct NamedQuality {
  std::string name;
  std::vector<std::string> samples;
  std::vector<double> values;  // higher = better
};

// The columns of a CSV file with a header; its column `key` (unset: the first) names the samples.
// Without columns all others are read. An empty cell is not a quality. Throws Error for a cell that
// is no number, with file and line.
std::vector<NamedQuality> read_named_qualities(const std::filesystem::path& path,
                                               const std::vector<std::string>& columns,
                                               const std::optional<std::string>& key);

// Of each unit of the trials; NaN where it has none.
std::vector<double> quality_of_units(const NamedQuality& quality, const TrialSet& trials);

struct QualityReport {
  std::string protocol, track;
  std::string threshold_from;  // a sentence
  DiscardOptions options;
  std::int64_t left_out = 0;         // comparisons with a failed enrolment that the run leaves out
  std::int64_t without_quality = 0;  // comparisons of a sample that lacks one of the qualities
  DiscardResult result;
};

// error_versus_discard() on the comparisons of a run whose samples (or templates) all have all
// qualities; names are those of the lists, with or without extension. The threshold is one of
// `options`, or gives its FAR on the run, or on the run `other` where that is not empty. Throws as
// group_report() does, and Error where no comparison has all qualities.
QualityReport quality_report(const std::filesystem::path& run,
                             std::span<const NamedQuality> qualities,
                             const std::optional<std::string>& track, DiscardOptions options = {},
                             const std::filesystem::path& other = {}, const Job& job = {});

// With all digits, and each curve at every hundredth of discards.
Json quality_report_json(const QualityReport& report);

}  // namespace facebench
