#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "facebench/core/options_fwd.h"
#include "facebench/io/json.h"

namespace facebench {

// The comparisons, people and labels behind a run's error rates.

struct InspectionOptions {
  std::int64_t count = 20;
  std::optional<std::string> track;
  std::optional<double> threshold;  // unset: that of `far`
  double far = 0.001;

  static void describe(OptionsBuilder<InspectionOptions>& o);
};

// To which pairs an inspection is confined: those of which one side is all that is asked for. What
// is empty or unset asks for nothing.
struct PairChoice {
  std::vector<std::string> people;   // names of people
  std::filesystem::path attributes;  // a CSV file: its first column names people or photographs
  std::optional<std::string> group;  // a value of `column` there
  std::filesystem::path qualities;   // the same with a quality of photographs
  std::optional<double> quality_below;
  std::optional<std::string> column;  // of either file; unset: the second
};
// The names of people or samples that inspect_run() takes; empty where nothing is asked for. Throws
// std::invalid_argument for a file without its value or a value without its file, and where no name
// is all that is asked for; Error where no row of a file is.
std::set<std::string> chosen_names(const PairChoice& choice);

struct InspectedPair {
  std::string first, second;  // samples or templates
  std::string first_person, second_person;
  bool genuine = false;
  double score = 0;
  std::optional<double> other;  // of the other run, where the runs disagree
};

// What the rates are without the comparisons of one person.
struct PersonInfluence {
  std::string person;
  std::int64_t comparisons = 0, errors = 0;
  double fmr = 0, fnmr = 0;  // NaN where nothing is left
};

// Samples whose comparisons speak against their label; two where one comparison is all there is.
struct LabelSuspect {
  std::vector<std::string> samples, people;
  double evidence = 0;  // log10 of the likelihood ratio against the label, above 0
  std::int64_t against = 0, comparisons = 0;  // that speak against it, and all
  InspectedPair worst;
};

struct Inspection {
  std::string protocol, track, threshold_from, other_run;
  double threshold = 0;
  double other_threshold = 0;  // that gives the same FAR on the other run
  std::int64_t genuine = 0, impostor = 0;
  double fmr = 0, fnmr = 0;
  // Of the pairs among which a name is one of those asked for: the lowest genuine scores, the
  // highest impostor scores, and what one run alone decides rightly, the clearest first.
  std::vector<InspectedPair> genuine_pairs, impostor_pairs, disagreements;
  std::vector<PersonInfluence> influence;  // those that move a rate most, in proportion to it
  std::vector<LabelSuspect> suspects;      // the strongest first
};

// Inspects a run whose track is a list. `choice`: names of people or samples (with or without
// extension), to which pairs are confined; empty: all. `other`: another run of the same
// comparisons, or empty. Evidence against labels: scores become likelihood ratios by a logistic
// calibration on this list; of a sample it is the sum over its genuine comparisons of the evidence
// against them, and over its impostor comparisons of what speaks for one person. The strongest
// sample is taken and what its comparisons say is taken off the others', again and again. Throws as
// group_report() does, and Error where the other run holds other comparisons, for a person whom
// the comparisons do not have, and where none of them is chosen.
Inspection inspect_run(const std::filesystem::path& run, const PairChoice& choice,
                       const std::filesystem::path& other, const InspectionOptions& options = {});

Json inspection_json(const Inspection& inspection);
// The suspects' samples as a list that `without` and `exclude` take (io/exclusion.h).
std::string suspects_exclusion(const Inspection& inspection);

}  // namespace facebench
