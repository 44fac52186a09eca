#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "facebench/analysis/listed_run.h"
#include "facebench/runs/run_folder.h"

// What the reports on lists of comparisons share.
namespace facebench {

// The number of the track of that name, or of the only one, or of the only verification. Throws
// std::invalid_argument.
std::size_t track_of(const RunScores& run, const std::optional<std::string>& track);
// The same of a run that is held against a track of another: of that name, or its only one.
std::size_t track_like(const RunScores& run, const std::string& track);
// Comparisons with a failed enrolment are treated as the run says, or as `options` do. Throws Error
// where the track is not a verification whose scores were all kept.
ListedRun counted_list(const RunScores& run, std::size_t track, const std::filesystem::path& folder,
                       const EvaluationOptions& options);
inline ListedRun counted_list(const RunScores& run, std::size_t track,
                              const std::filesystem::path& folder) {
  return counted_list(run, track, folder, run.options);
}
// The threshold that gives `far` on the list by the rule "exact".
double threshold_at(const ListedRun& list, double far);

// A threshold, and a sentence that says where it comes from.
struct ChosenThreshold {
  double value = 0;
  std::string from;
};
// `given`, or what gives `far` on the run `other`, or (where that is empty) on the list itself.
// Throws std::invalid_argument where both are given.
ChosenThreshold choose_threshold(const ListedRun& list, std::optional<double> threshold, double far,
                                 const std::filesystem::path& other, const std::string& track);

// The options of a report that is made on one run and tested on another.
template <class Options>
void describe_test(OptionsBuilder<Options>& o, std::string_view what, std::string_view level,
                   double lowest_level) {
  o.field("track", &Options::track, "track of the runs; default: the only verification");
  o.field("same", &Options::same,
          "test on the comparisons that the " + std::string(what) + " is made on");
  o.field("replicates", &Options::replicates, "resampled data sets", 20, 10'000'000);
  o.field("level", &Options::level, std::string(level), lowest_level, 0.9999);
  o.field("seed", &Options::seed, "seed of the resampling", 0, 9e15);
}
// Throws std::invalid_argument unless there is either a run to test on or the wish to test on the
// same comparisons. what: what is tested, "the threshold".
void check_test_run(const std::filesystem::path& test, bool same, std::string_view what);

}  // namespace facebench
