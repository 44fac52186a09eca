#pragma once

#include <cstdint>
#include <filesystem>

#include "facebench/io/text.h"

// Scores as a table of text.
namespace facebench {

struct TrialSet;

// The cells of a text in lines, separated by commas, semicolons, tabs or blanks. Where semicolons
// or tabs separate them, numbers with a decimal comma are read; a note says how many there were.
// Throws Error where a comma can mean two things.
struct ScoreTable : CsvTable {
  std::int64_t decimal_commas = 0;
};
ScoreTable score_table(const std::filesystem::path& path, bool header);
void note_decimal_commas(const ScoreTable& table, TrialSet& set);

}  // namespace facebench
