#pragma once

#include <cstdint>
#include <span>

namespace facebench {

// How much an error rate says when comparisons share people. The errors of two comparisons that
// share a person have the correlation r, those of others none; n comparisons, of which s ordered
// pairs share a person, then count as n / (1 + r s / n) independent ones. Source: Snijders &
// Borgatti, Connections 1999; Fafchamps & Gubert, Journal of Development Economics 2007 (dyads).
struct VertexModel {
  double rate = 0;
  std::int64_t comparisons = 0, people = 0;
  double shared = 0;       // ordered pairs of comparisons that share a person
  double correlation = 0;  // in [0, 1]; 0 where nothing is shared, or nothing is wrong
  double effective = 0;    // comparisons that independent ones would be
};

// wrong: 1 where a comparison is decided wrongly; first, second: who is behind it (equal for a
// genuine one). The correlation is the mean product of deviations over all pairs of comparisons
// that share a person, corrected for the mean being that of the same comparisons. Throws
// std::invalid_argument for lengths that differ and no comparison.
VertexModel fit_vertex_model(std::span<const std::uint8_t> wrong,
                             std::span<const std::int32_t> first,
                             std::span<const std::int32_t> second);

// Independent comparisons that bound a rate: without an error the one-sided bound at `level` is not
// above `rate`, log(1 - level) / log(1 - rate).
double comparisons_to_bound(double rate, double level);
// The bound that n of them give.
double bound_without_errors(double comparisons, double level);
// The smallest difference of two systems' rates around `rate` that a two-sided test at `level`
// shows with probability `power`, each on n independent comparisons, the systems' errors on the
// same comparison correlated by `likeness`.
double smallest_difference(double rate, double comparisons, double likeness, double level,
                           double power);
// The comparisons that such a difference takes.
double comparisons_for_difference(double rate, double difference, double likeness, double level,
                                  double power);

// The fewest people of whom every two are compared, one sample each, whose comparisons count as
// `effective` independent ones at that correlation. Throws std::invalid_argument for fewer than one
// comparison, infinitely many, or a correlation outside [0, 1].
double people_for_all_pairs(double effective, double correlation);

}  // namespace facebench
