#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/backends/backend.h"

// A score measured against those that its sides have with a cohort: images of people who are
// neither of the two.
namespace facebench {

struct NormalisationKind {
  std::string name, doc, source;
};
const Table<NormalisationKind>& score_normalisations();

struct Normalisation {
  std::string name;      // score_normalisations()
  std::int64_t top = 0;  // of a side's scores with the cohort the highest so many count; 0: all
};
// "s-norm", "s-norm:top=200". Throws std::invalid_argument with "did you mean".
Normalisation parse_normalisation(std::string_view text);
std::string normalisation_text(const Normalisation& normalisation);

// Of each row its scores with the cohort: their mean and standard deviation (divided by n - 1, as
// SpeechBrain and bob have it).
struct CohortScores {
  std::vector<double> mean, deviation;
};
// In blocks of 256 rows: memory is 256 x cohort doubles a thread. Throws std::invalid_argument for
// a cohort of fewer than two rows or than `top`, and Error where a row's scores are all the same.
CohortScores cohort_scores(const Backend& backend, const BackendSide& rows,
                           const BackendSide& cohort, std::int64_t top, const Job& job = {});

// The score of row i of one side and row j of the other. s-norm is symmetric in them, bit by bit.
double normalised(const Normalisation& normalisation, double score, const CohortScores& a,
                  std::int64_t i, const CohortScores& b, std::int64_t j);

}  // namespace facebench
