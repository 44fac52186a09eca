#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "facebench/analysis/difference.h"
#include "facebench/analysis/run_pairing.h"
#include "facebench/core/job.h"
#include "facebench/io/json.h"

namespace facebench {

// One number of two runs, computed again from their scores under both of their conventions.
struct ExplainedNumber {
  std::string track;
  NumberKey key;
  // value[run][convention], 0 = A's and 1 = B's; none if the rule cannot be applied to the scores.
  std::array<std::array<std::optional<double>, 2>, 2> value;
  // A's minus B's, both under A's convention, with its interval; none if the scores are the same,
  // if the runs do not hold the same comparisons, or if nothing can be resampled.
  std::optional<PairedComparison> paired;
  std::string not_paired;  // why there is none, where the scores are not the same
  // The p-value of `paired`, adjusted for all numbers of the explanation (Holm 1979).
  std::optional<double> adjusted_p;
  // "same" where both runs have the same number, else one of difference_kinds(): the first reason
  // that matters for this number, where `adjusted_p` tells the difference from chance; "undecided"
  // where the p-value does by itself only.
  std::string cause;

  std::optional<double> a() const { return value[0][0]; }
  std::optional<double> b() const { return value[1][1]; }
  // The two parts of a() - b(): both runs' scores under A's convention, and B's scores under A's
  // and under B's convention.
  std::optional<double> by_scores() const;
  std::optional<double> by_convention() const;
};

// Why two runs differ.
struct Explanation {
  std::array<std::string, 2> run, protocol, convention;
  std::vector<Difference> differences;
  std::vector<ExplainedNumber> numbers;
  // Comparisons that both hold, with the same labels, and those of either run alone; all tracks.
  std::int64_t common = 0, only_a = 0, only_b = 0;
  double level = 0.95;  // of the intervals of differences
  // The cause of a number that comes first in the order of difference_kinds(); "same" where all
  // numbers are equal.
  std::string cause;
};

// Compares two run folders: what their manifests record, what their scores.h5 hold, and what both
// numbers become under the convention of the other. Throws Error where a folder is not a run or its
// scores cannot be read.
Explanation explain(const std::filesystem::path& a, const std::filesystem::path& b,
                    const BootstrapOptions& options = {}, const Job& job = {});

// The cause, what differs with its evidence, and the numbers, with all digits.
Json explanation_json(const Explanation& explanation);

}  // namespace facebench
