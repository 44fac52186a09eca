#pragma once

#include <span>
#include <string>
#include <vector>

#include "facebench/analysis/trial_pairs.h"
#include "facebench/core/registry.h"

namespace facebench {

// What can make two numbers differ, in the order in which it is looked at: "data" (lists and what
// they compare), "images" (photographs, detection, crop, failed enrolments), "model" (weights,
// extraction, embeddings, the software that ran them), "back end", "convention" (how numbers are
// made of scores), "intervals" (of the error bars alone), "undecided" (told from chance by itself,
// and not with all numbers together) and "chance".
struct DifferenceKind {
  std::string name;
  std::string doc;
};
const Table<DifferenceKind>& difference_kinds();

// One thing in which two runs differ.
struct Difference {
  std::string kind;      // difference_kinds()
  bool matters = false;  // it can have changed a number; see `what` for why not
  std::string what;      // a sentence
  std::string a, b;      // the evidence: what either run recorded, cut to a readable length
};

// Whether two runs measure the same.
struct TrialAgreement {
  bool comparisons = false;  // the same tracks with the same comparisons, labels and folds
  bool scores = false;       // and the same scores and failures, to the bit
};
TrialAgreement trial_agreement(const RunScores& a, const RunScores& b,
                               std::span<const TrackPairs> pairs);

// Everything that two manifests and their scores say differently, in the order of
// difference_kinds(). Convention differences are marked as mattering here; whether they changed a
// number is found by computing it again, see explain().
std::vector<Difference> run_differences(const Run& a, const Run& b, const RunScores& scores_a,
                                        const RunScores& scores_b,
                                        std::span<const TrackPairs> pairs);

}  // namespace facebench
