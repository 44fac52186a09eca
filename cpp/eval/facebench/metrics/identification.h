#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/searches.h"

namespace facebench {

// The rank of a mate that has the same score as other people.
struct RankTies {
  std::string name;
  std::string doc;
  std::string source;
  // The share of the orders of tied people in which the mate has rank k or better.
  double (*within)(std::int64_t k, std::int64_t ahead, std::int64_t tied) = nullptr;
};
// "pessimistic" (the default: after all of them, so that equal scores, as those of a failed
// enrolment, identify nobody), "optimistic" (before all of them), "expected" (the mean over all
// orders).
const Table<RankTies>& rank_ties();

// Closed-set identification: the cumulative match characteristic.
struct Cmc {
  std::vector<double> rate;  // rate[k - 1]: share of mated probes whose mate has rank <= k
  std::int64_t mated = 0;
  std::int64_t non_mated = 0;  // left out: they have no mate in the gallery
  std::int64_t gallery = 0;    // people; the number of ranks
  std::int64_t tied = 0;       // mated probes whose rank depends on the rule for ties
  std::string ties;
};
// weights: one a probe, empty = each once. Throws std::invalid_argument for a wrong number of
// weights, an unknown rule, and where there is no mated probe.
Cmc cmc(const Searches& searches, std::string_view ties = "pessimistic",
        std::span<const Weight> weights = {});
// The rate at one rank, 1 <= rank <= gallery(), else std::invalid_argument.
double rank_rate(const Searches& searches, std::int64_t rank, std::string_view ties = "pessimistic",
                 std::span<const Weight> weights = {});

// Open-set identification at all thresholds. Rule: a search answers with those whose score >=
// threshold. A mated probe is identified where its mate is among them, at a rank (pessimistic) no
// worse than `rank`; a non-mated probe is a false positive where there is any answer. One point for
// each distinct score, after a first one at which nothing is answered (threshold +infinity).
struct IdentificationCurve {
  std::vector<double> threshold;
  std::vector<std::int64_t> identified;
  std::vector<std::int64_t> false_positives;
  std::int64_t mated = 0;
  std::int64_t non_mated = 0;
  std::int64_t rank = 0;
  std::size_t size() const { return threshold.size(); }
  // Rates at each point; NaN where the class is empty. FNIR = 1 - DIR (ISO/IEC 19795-1).
  std::vector<double> dir() const;
  std::vector<double> fpir() const;
};
// rank >= 1; 0 = any rank.
IdentificationCurve identification_curve(const Searches& searches, std::int64_t rank = 1,
                                         std::span<const Weight> weights = {});

// Detection and identification rate at a false positive identification rate (Phillips, Grother &
// Micheals 2011; ISO/IEC 19795-1), with the counts behind it.
struct DirAtFpir {
  double value = 0;          // DIR = TPIR, in [0, 1]
  double fnir = 0;           // 1 - DIR, one division
  double fpir_target = 0;    // what was asked for
  double fpir_achieved = 0;  // what the threshold gives on the non-mated probes
  std::int64_t false_positives = 0;
  double expected_false_positives = 0;  // fpir_target * non_mated
  bool reliable = false;                // expected_false_positives >= 10, as TarAtFar
  double threshold = 0;
  std::int64_t identified = 0;
  std::int64_t mated = 0;
  std::int64_t non_mated = 0;
  std::int64_t rank = 0;
  std::string convention;
};

// One published way to choose the threshold and to count.
struct IdentificationConvention {
  std::string name;
  std::string doc;
  std::string source;
  bool needs_non_mated = true;
  std::int64_t rank = -1;  // what the rule prescribes; -1 = the caller chooses
  // NaN value where it is undefined.
  DirAtFpir (*measure)(const Searches&, std::span<const Weight> weights, double fpir,
                       std::int64_t rank) = nullptr;
};
// "exact" (the default of this project): the lowest threshold whose FPIR on the non-mated probes
// does not exceed the target; ties grouped; answer score >= threshold; the threshold lies in the
// middle between two scores. The others reproduce published scripts; see `doc` of each.
const Table<IdentificationConvention>& identification_conventions();

// fpir in [0, 1]. rank as in identification_curve(); conventions that prescribe one ignore it and
// say so in `rank`. Throws std::invalid_argument for an fpir or rank outside, an unknown
// convention, and where the value is undefined.
DirAtFpir dir_at_fpir(const Searches& searches, double fpir, std::int64_t rank = 1,
                      std::string_view convention = "exact", std::span<const Weight> weights = {});

// For the bootstrap; its weights are one a probe. With each probe's identity as both vertices
// (ComparisonGraph{identity, identity}) the vertex bootstrap draws people among the probes, mated
// and non-mated, and chooses the threshold again; the gallery stays as it is, since a rank among
// people drawn twice would mean something else.
Statistic rank_rate_statistic(std::shared_ptr<const Searches> searches, std::int64_t rank,
                              std::string_view ties = "pessimistic");
Statistic dir_at_fpir_statistic(std::shared_ptr<const Searches> searches, double fpir,
                                std::int64_t rank = 1, std::string_view convention = "exact");

}  // namespace facebench
