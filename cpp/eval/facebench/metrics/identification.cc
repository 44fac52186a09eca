#include "facebench/metrics/identification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "facebench/metrics/internal/measures.h"

namespace facebench {
namespace {

// One weight a probe.
std::vector<Weight> probe_weights(const Searches& s, std::span<const Weight> weights) {
  if (weights.empty()) return std::vector<Weight>(s.size(), 1);
  if (weights.size() != s.size())
    throw std::invalid_argument(fmt::format("{} probes but {} weights", s.size(), weights.size()));
  return {weights.begin(), weights.end()};
}

bool identified_at(const Searches& s, std::uint32_t probe, std::int64_t rank) {
  return s.is_mated()[probe] != 0 &&
         (rank == 0 || std::int64_t{s.ahead()[probe]} + s.tied()[probe] + 1 <= rank);
}

DirAtFpir undefined_dir() {
  DirAtFpir cell;
  cell.value = cell.fnir = cell.fpir_achieved = cell.threshold = nan;
  return cell;
}

// What a threshold gives; `equal`: a score at the threshold is an answer.
DirAtFpir count_at(const Searches& s, std::span<const Weight> weights, double threshold, bool equal,
                   std::int64_t rank) {
  DirAtFpir cell;
  for (std::uint32_t p = 0; p < s.size(); ++p) {
    const bool answered = equal ? s.score()[p] >= threshold : s.score()[p] > threshold;
    (s.is_mated()[p] ? cell.mated : cell.non_mated) += weights[p];
    if (!answered) continue;
    if (!s.is_mated()[p]) cell.false_positives += weights[p];
    if (identified_at(s, p, rank)) cell.identified += weights[p];
  }
  cell.threshold = threshold;
  cell.rank = rank;
  return cell;
}

DirAtFpir measure_exact(const Searches& s, std::span<const Weight> weights, double fpir,
                        std::int64_t rank) {
  const IdentificationCurve curve = identification_curve(s, rank, weights);
  if (curve.mated == 0 || curve.non_mated == 0) return undefined_dir();
  std::size_t i = 0;
  while (i + 1 < curve.size() && ratio(curve.false_positives[i + 1], curve.non_mated) <= fpir) ++i;
  return count_at(s, weights, threshold_of_point(curve.threshold, i), true, rank);
}

// insightface's evaluation/ijb/ijb_evals.py evaluation_1N.
DirAtFpir measure_ijb_evals(const Searches& s, std::span<const Weight> weights, double fpir,
                            std::int64_t rank) {
  std::int64_t non_mated = 0, mated = 0;
  for (std::uint32_t p = 0; p < s.size(); ++p) (s.is_mated()[p] ? mated : non_mated) += weights[p];
  if (mated == 0 || non_mated == 0) return undefined_dir();
  const auto index = std::max<std::int64_t>(
      static_cast<std::int64_t>(static_cast<double>(non_mated) * fpir) - 1, 0);
  std::int64_t seen = 0;
  for (const std::uint32_t p : s.order()) {
    if (s.is_mated()[p]) continue;
    seen += weights[p];
    if (seen > index) return count_at(s, weights, s.score()[p], false, rank);
  }
  return undefined_dir();  // not reached
}

// insightface's recognition/_evaluation_/ijb/ijb_1n.py evaluation.
DirAtFpir measure_ijb_1n(const Searches& s, std::span<const Weight> weights, double fpir,
                         std::int64_t rank) {
  std::int64_t mated = 0;
  for (std::uint32_t p = 0; p < s.size(); ++p)
    if (s.is_mated()[p]) mated += weights[p];
  const auto k = static_cast<std::int64_t>(std::ceil(static_cast<double>(mated) * fpir));
  if (mated == 0 || k == 0) return undefined_dir();
  std::int64_t seen = 0;
  for (const SearchRecord::Impostor& i : s.impostors()) {
    seen += weights[i.probe];
    if (seen >= k) return count_at(s, weights, i.score, false, rank);
  }
  return undefined_dir();
}

void check_rank(std::int64_t rank, std::int64_t low, std::int64_t gallery) {
  if (rank < low || rank > gallery)
    throw std::invalid_argument(fmt::format(
        "rank {} is outside [{}, {}]: the gallery has {} people", rank, low, gallery, gallery));
}

double measure_rank_rate(const Searches& s, std::span<const Weight> weights, std::int64_t rank,
                         const RankTies& rule) {
  std::int64_t mated = 0;
  double hits = 0;
  for (std::size_t p = 0; p < s.size(); ++p) {
    if (!s.is_mated()[p]) continue;
    mated += weights[p];
    hits += weights[p] * rule.within(rank, s.ahead()[p], s.tied()[p]);
  }
  return mated > 0 ? hits / static_cast<double>(mated) : nan;
}

constexpr const char* no_mated = "no probe has a mate in the gallery";

}  // namespace

std::vector<double> IdentificationCurve::dir() const { return rates(identified, mated); }
std::vector<double> IdentificationCurve::fpir() const { return rates(false_positives, non_mated); }

const Table<RankTies>& rank_ties() {
  using Count = std::int64_t;
  static const Table<RankTies> table(
      "rule for tied ranks",
      {{"pessimistic", "the mate comes after everybody with the same score", "this project",
        [](Count k, Count ahead, Count tied) { return ahead + tied + 1 <= k ? 1.0 : 0.0; }},
       {"optimistic", "the mate comes before everybody with the same score",
        "JDAI-CV/FaceX-Zoo test_protocol/megaface",
        [](Count k, Count ahead, Count) { return ahead + 1 <= k ? 1.0 : 0.0; }},
       {"expected", "the mean over all orders of those with the same score",
        "McSherry & Najork, Computing information retrieval performance measures efficiently in "
        "the presence of tied scores, ECIR 2008",
        [](Count k, Count ahead, Count tied) {
          return std::clamp(ratio(k - ahead, tied + 1), 0.0, 1.0);
        }}});
  return table;
}

Cmc cmc(const Searches& s, std::string_view ties, std::span<const Weight> weights_given) {
  const RankTies& rule = rank_ties().at(ties);
  const std::vector<Weight> weights = probe_weights(s, weights_given);
  Cmc result;
  result.ties = rule.name;
  result.gallery = s.gallery();
  // Probes that are settled at one rank are counted in integers; only a tie under "expected" is
  // spread over several.
  std::vector<std::int64_t> settled(s.gallery() + 1, 0);
  std::vector<double> spread(s.gallery() + 1, 0);
  for (std::size_t p = 0; p < s.size(); ++p) {
    (s.is_mated()[p] ? result.mated : result.non_mated) += weights[p];
    if (!s.is_mated()[p] || weights[p] == 0) continue;
    const std::int64_t ahead = s.ahead()[p], tied = s.tied()[p];
    if (tied > 0) result.tied += weights[p];
    std::int64_t k = ahead + 1;
    double share;
    for (; (share = rule.within(k, ahead, tied)) < 1; ++k) spread[k - 1] += weights[p] * share;
    settled[k - 1] += weights[p];
  }
  if (result.mated == 0) throw std::invalid_argument(no_mated);
  std::int64_t hits = 0;
  for (std::int64_t k = 0; k < s.gallery(); ++k) {
    hits += settled[k];
    result.rate.push_back((static_cast<double>(hits) + spread[k]) /
                          static_cast<double>(result.mated));
  }
  return result;
}

double rank_rate(const Searches& s, std::int64_t rank, std::string_view ties,
                 std::span<const Weight> weights) {
  check_rank(rank, 1, s.gallery());
  const double rate = measure_rank_rate(s, probe_weights(s, weights), rank, rank_ties().at(ties));
  if (std::isnan(rate)) throw std::invalid_argument(no_mated);
  return rate;
}

IdentificationCurve identification_curve(const Searches& s, std::int64_t rank,
                                         std::span<const Weight> weights_given) {
  check_rank(rank, 0, s.gallery());
  const std::vector<Weight> weights = probe_weights(s, weights_given);
  IdentificationCurve c;
  c.rank = rank;
  c.threshold.push_back(std::numeric_limits<double>::infinity());
  c.identified.push_back(0);
  c.false_positives.push_back(0);
  std::int64_t identified = 0;
  for (const std::uint32_t p : s.order()) {
    if (weights[p] == 0) continue;
    (s.is_mated()[p] ? c.mated : c.non_mated) += weights[p];
    if (identified_at(s, p, rank)) identified += weights[p];
    if (c.threshold.back() != s.score()[p]) {
      c.threshold.push_back(s.score()[p]);
      c.identified.push_back(0);
      c.false_positives.push_back(0);
    }
    c.identified.back() = identified;
    c.false_positives.back() = c.non_mated;
  }
  return c;
}

const Table<IdentificationConvention>& identification_conventions() {
  static const Table<IdentificationConvention> table(
      "identification convention",
      {{"exact",
        "lowest threshold whose FPIR on the non-mated probes does not exceed the target, ties "
        "grouped, answer >=",
        "this project", true, -1, measure_exact},
       {"ijb_1n",
        "no non-mated probes: the threshold is the ceil(FPIR * mated probes)-th highest of all "
        "scores of mated probes with other people (pooled, so not a share of searches); a mate "
        "counts at any rank, score > threshold",
        "deepinsight/insightface recognition/_evaluation_/ijb/ijb_1n.py evaluation", false, 0,
        measure_ijb_1n},
       {"ijb_evals",
        "highest score of each non-mated probe, descending, at index max(int(n * FPIR) - 1, 0); a "
        "mate counts where it beats everybody else strictly, score > threshold",
        "deepinsight/insightface recognition/_evaluation_/ijb/ijb_evals.py evaluation_1N", true, 1,
        measure_ijb_evals}});
  return table;
}

DirAtFpir dir_at_fpir(const Searches& s, double fpir, std::int64_t rank,
                      std::string_view convention, std::span<const Weight> weights) {
  if (!(fpir >= 0 && fpir <= 1))
    throw std::invalid_argument(fmt::format("the target FPIR is {}; it must lie in [0, 1]", fpir));
  check_rank(rank, 0, s.gallery());
  const IdentificationConvention& rule = identification_conventions().at(convention);
  DirAtFpir cell =
      rule.measure(s, probe_weights(s, weights), fpir, rule.rank < 0 ? rank : rule.rank);
  if (std::isnan(cell.value))
    throw std::invalid_argument(fmt::format(
        "the DIR at an FPIR is undefined under '{}': {}", rule.name,
        rule.needs_non_mated ? "it needs mated and non-mated probes"
                             : "it needs mated probes, an FPIR above 0 and enough other people"));
  cell.value = ratio(cell.identified, cell.mated);
  cell.fnir = ratio(cell.mated - cell.identified, cell.mated);
  cell.fpir_target = fpir;
  cell.fpir_achieved = cell.non_mated > 0 ? ratio(cell.false_positives, cell.non_mated) : nan;
  cell.expected_false_positives = fpir * static_cast<double>(cell.non_mated);
  cell.reliable = enough_expected(cell.expected_false_positives);
  cell.convention = rule.name;
  return cell;
}

namespace {

// A share of the mated probes.
Statistic of_mated(std::string name, const std::shared_ptr<const Searches>& s,
                   std::function<double(std::span<const Weight>)> value) {
  Statistic statistic{std::move(name), std::move(value), 1 / static_cast<double>(s->mated())};
  statistic.bases = {{s->mated(), [s] {
                        const auto mated = s->is_mated();
                        return std::vector<std::int64_t>(mated.begin(), mated.end());
                      }}};
  return statistic;
}

}  // namespace

Statistic rank_rate_statistic(std::shared_ptr<const Searches> s, std::int64_t rank,
                              std::string_view ties) {
  rank_rate(*s, rank, ties);  // checks the arguments once, not in each replicate
  const RankTies& rule = rank_ties().at(ties);
  return of_mated(fmt::format("rank_{}_rate", rank), s,
                  [s, rank, &rule](std::span<const Weight> w) {
                    return measure_rank_rate(*s, probe_weights(*s, w), rank, rule);
                  });
}

Statistic dir_at_fpir_statistic(std::shared_ptr<const Searches> s, double fpir, std::int64_t rank,
                                std::string_view convention) {
  rank = dir_at_fpir(*s, fpir, rank, convention).rank;
  const IdentificationConvention& rule = identification_conventions().at(convention);
  return of_mated("dir_at_fpir", s, [s, fpir, rank, &rule](std::span<const Weight> w) {
    const DirAtFpir cell = rule.measure(*s, probe_weights(*s, w), fpir, rank);
    return std::isnan(cell.value) ? nan : ratio(cell.identified, cell.mated);
  });
}

}  // namespace facebench
