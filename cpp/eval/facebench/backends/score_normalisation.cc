#include "facebench/backends/score_normalisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/core/numbers.h"

namespace facebench {

const Table<NormalisationKind>& score_normalisations() {
  static const Table<NormalisationKind> table(
      "score normalisation",
      {{"z-norm", "by the scores of the first side (the enrolled one) with the cohort",
        "Li & Porter, ICASSP 1988; Reynolds, Digital Signal Processing 2000"},
       {"t-norm", "by the scores of the second side (the probe) with the cohort",
        "Auckenthaler et al., Digital Signal Processing 2000"},
       {"s-norm", "the mean of both; with top=N it is the adaptive one (AS-norm1)",
        "Kenny, Odyssey 2010; Matejka et al., Interspeech 2017"}});
  return table;
}

Normalisation parse_normalisation(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  Normalisation result{score_normalisations().at(text.substr(0, colon)).name};
  if (colon == text.size()) return result;
  const std::string_view setting = text.substr(colon + 1);
  const auto top = setting.starts_with("top=") ? number_of(setting.substr(4)) : std::nullopt;
  if (!top || *top < 2 || *top > 1e9 || *top != std::floor(*top))
    throw std::invalid_argument(
        fmt::format("score normalisation {}: the only setting is top=N, a whole number from 2, not "
                    "'{}'",
                    result.name, setting));
  result.top = static_cast<std::int64_t>(*top);
  return result;
}

std::string normalisation_text(const Normalisation& n) {
  return n.top > 0 ? fmt::format("{}:top={}", n.name, n.top) : n.name;
}

CohortScores cohort_scores(const Backend& backend, const BackendSide& rows,
                           const BackendSide& cohort, std::int64_t top, const Job& job) {
  constexpr std::int64_t at_once = 256;
  const std::int64_t n = rows.rows.rows(), all = cohort.rows.rows(), used = top > 0 ? top : all;
  if (all < 2 || used > all)
    throw std::invalid_argument(
        fmt::format("score normalisation: {} images of a cohort are asked for, it has {}",
                    std::max<std::int64_t>(used, 2), all));
  CohortScores result{std::vector<double>(static_cast<std::size_t>(n)),
                      std::vector<double>(static_cast<std::size_t>(n))};
  parallel_for((n + at_once - 1) / at_once, job, [&](std::int64_t block, int) {
    const std::int64_t begin = block * at_once, count = std::min(at_once, n - begin);
    RowMatrix<double> scores = backend.score_all(rows, begin, count, cohort);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::span row(scores.data() + i * all, static_cast<std::size_t>(all));
      const std::span best = row.first(static_cast<std::size_t>(used));
      // Sorted, so that the order of the sums is that of the values.
      if (used < all) std::ranges::partial_sort(row, best.end(), std::greater());
      double sum = 0, squares = 0;
      for (const double s : best) sum += s;
      const double mean = sum / static_cast<double>(used);
      for (const double s : best) squares += (s - mean) * (s - mean);
      const auto at = static_cast<std::size_t>(begin + i);
      result.mean[at] = mean;
      result.deviation[at] = std::sqrt(squares / static_cast<double>(used - 1));
      if (!(result.deviation[at] > 0))
        fail("score normalisation",
             fmt::format("the {} scores of an image with the cohort are all the same", used),
             "Give a cohort of other images, or more of them.");
    }
  });
  return result;
}

double normalised(const Normalisation& normalisation, double score, const CohortScores& a,
                  std::int64_t i, const CohortScores& b, std::int64_t j) {
  const auto by = [&](const CohortScores& c, std::int64_t k) {
    const auto at = static_cast<std::size_t>(k);
    return (score - c.mean[at]) / c.deviation[at];
  };
  if (normalisation.name == "z-norm") return by(a, i);
  if (normalisation.name == "t-norm") return by(b, j);
  return 0.5 * (by(a, i) + by(b, j));
}

}  // namespace facebench
