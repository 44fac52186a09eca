#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/trials/trials.h"

namespace facebench {

// Scores as other programs write them, in files that say themselves which comparisons are genuine:
// what is compared then needs no list of a protocol.
struct ScoredList {
  TrialSet trials;             // one track, "scores"; its lists are the files
  std::vector<double> scores;  // of its comparisons in order, higher = more alike
  // The file, or the names in it, say that it holds distances: these are their negatives.
  bool turned = false;
};

// A form of such files. Where the files name no people every comparison has people of its own, and
// a note says so: intervals are then those of comparisons that are drawn one by one.
struct ScoreForm {
  std::string name;
  std::string doc;
  std::string source;
  std::size_t files;
  ScoredList (*read)(std::span<const std::filesystem::path> files) = nullptr;
};
const Table<ScoreForm>& score_forms();

// Reads the files in a form of score_forms(), or, without a name, in the one that they look like.
// Of two files whose names say which scores are genuine, the names decide and not the order; the
// notes say what was read as what. `columns`: of the form 'labelled' the headers of both names, the
// score and, where it is not called so, the label. Throws std::invalid_argument for an unknown form
// (did you mean) or another number of files than it has, Error naming file and line for what does
// not have the form, and where one of the classes is empty.
ScoredList read_scored_list(std::span<const std::filesystem::path> files,
                            std::string_view form = "", std::span<const std::string> columns = {});

// The same of scores in memory: `genuine` has 1 or 0 for each score; `first` and `second`, who is
// on either side of each, are both empty or have a name for each. Throws std::invalid_argument for
// lengths that differ, Error where one of the classes is empty or more than a tenth of the labels
// contradict the people.
ScoredList scored_list(std::span<const double> scores, std::span<const std::uint8_t> genuine,
                       std::span<const std::string> first, std::span<const std::string> second);

}  // namespace facebench
