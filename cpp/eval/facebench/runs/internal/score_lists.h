#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "facebench/io/text.h"
#include "facebench/runs/internal/score_table.h"
#include "facebench/runs/score_files.h"

// What the forms of score files share.
namespace facebench {

inline constexpr const char* kScoresTrack = "scores";

// Every comparison is of people of its own; a note says so. Throws Error where a class is empty.
ScoredList nameless_scores(const std::vector<double>& genuine, const std::vector<double>& impostor,
                           std::vector<TrialList> lists);

TrialList score_list(const std::filesystem::path& path, std::string role);

// A label and a score a row and, where there are any, the names of both sides. `columns` are
// headers: both names, the score and, where it is not found by its header, the label; empty: they
// are found by their headers or by what they hold.
ScoredList read_labelled_scores(const std::filesystem::path& path,
                                std::span<const std::string> columns);
// Whether rows, the first of which may be a header, have that form by what they hold.
bool can_be_labelled_scores(const CsvTable& rows);

}  // namespace facebench
