#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "facebench/io/text.h"
#include "facebench/runs/score_files.h"

// What the forms of score files share.
namespace facebench {

inline constexpr const char* kScoresTrack = "scores";

// Every comparison is of people of its own; a note says so. Throws Error where a class is empty.
ScoredList nameless_scores(const std::vector<double>& genuine, const std::vector<double>& impostor,
                           std::vector<TrialList> lists);

// The cells of a text in lines, separated by commas, semicolons, tabs or blanks. Where semicolons
// or tabs separate them, numbers with a decimal comma are read; a note says how many there were.
// Throws Error where a comma can mean two things.
struct ScoreTable : CsvTable {
  std::int64_t decimal_commas = 0;
};
ScoreTable score_table(const std::filesystem::path& path, bool header);
void note_decimal_commas(const ScoreTable& table, TrialSet& set);

TrialList score_list(const std::filesystem::path& path, std::string role);

// A label and a score a row and, where there are any, the names of both sides. `columns` are
// headers: both names, the score and, where it is not found by its header, the label; empty: they
// are found by their headers or by what they hold.
ScoredList read_labelled_scores(const std::filesystem::path& path,
                                std::span<const std::string> columns);
// Whether rows, the first of which may be a header, have that form by what they hold.
bool can_be_labelled_scores(const CsvTable& rows);

}  // namespace facebench
