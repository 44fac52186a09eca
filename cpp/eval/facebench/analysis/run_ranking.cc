#include "facebench/analysis/run_ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "facebench/analysis/run_pairing.h"
#include "facebench/analysis/trial_pairs.h"
#include "facebench/core/error.h"
#include "facebench/evaluation/metric.h"
#include "facebench/metrics/interval.h"
#include "facebench/runs/run_folder.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

std::vector<Difference> why_not(const WholeRun& a, const WholeRun& b) {
  std::vector<Difference> reasons;
  if (a.scores.spec.id != b.scores.spec.id || a.scores.spec.version != b.scores.spec.version) {
    const auto text = [](const ProtocolSpec& spec) {
      return fmt::format("{}, version {}", spec.id, spec.version);
    };
    return {{"data", true, "the protocol differs", text(a.scores.spec), text(b.scores.spec)}};
  }
  const auto pairs = track_pairs(a.scores, b.scores);
  for (Difference& d : run_differences(a.run, b.run, a.scores, b.scores, pairs))
    if (d.matters && (d.kind == "data" || d.kind == "convention" ||
                      d.what.starts_with("the photographs differ")))
      reasons.push_back(std::move(d));
  return reasons;
}

// The protocol with that metric alone.
ProtocolSpec only_metric(ProtocolSpec spec, const Metric& metric) {
  std::erase_if(spec.metrics, [&](const MetricRequest& m) { return m.name != metric.name; });
  return spec;
}

double variance_of(std::span<const double> values) {
  double squares = 0;
  for (const double v : values) squares += v * v;
  return squares / static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

// What each draw does to each run: [draw][run], the mean of all runs taken off.
std::vector<std::vector<double>> moves_of(const std::vector<const Replicates*>& runs) {
  std::vector<std::vector<double>> moves;
  const std::size_t draws = runs[0]->values[0].size() / 2;
  for (std::size_t p = 0; p < draws; ++p) {
    std::vector<double> move;
    for (const Replicates* r : runs)
      move.push_back((r->values[0][2 * p] - r->values[0][2 * p + 1]) / 2);
    const double mean =
        std::accumulate(move.begin(), move.end(), 0.0) / static_cast<double>(move.size());
    if (std::isnan(mean)) continue;
    for (double& m : move) m -= mean;
    moves.push_back(std::move(move));
  }
  return moves;
}

// The sd of a difference. Of one that is not told from chance that by which its interval ends where
// it does, on the side of 0: of few people, and of few who differ, more than that of the draws.
double sd_of(const PairedComparison& d) {
  if (d.p_value < 1 - d.interval.level) return d.sd;
  const double down = d.value - d.interval.low, up = d.interval.high - d.value;
  const double side = d.value > 0 ? down : d.value < 0 ? up : std::max(down, up);
  return side / normal_quantile((1 + d.interval.level) / 2);
}

// The factor that gives the moves the variance of the paired comparisons; 0 where no move tells two
// runs apart.
double scale_of(const std::vector<std::vector<double>>& moves,
                const std::vector<RunRanking::Pair>& pairs) {
  double of_pairs = 0, of_moves = 0;
  for (const RunRanking::Pair& pair : pairs) {
    const double squared = std::pow(sd_of(pair.difference), 2);
    if (std::isnan(squared)) continue;
    std::vector<double> differences;
    for (const auto& move : moves) differences.push_back(move[pair.a] - move[pair.b]);
    of_pairs += squared;
    of_moves += variance_of(differences);
  }
  return of_moves > 0 ? std::sqrt(of_pairs / of_moves) : 0;
}

// Why the draws say nothing of the order, or empty.
std::string why_undefined(std::size_t moves, std::size_t draws, double scale) {
  if (moves * 2 < draws || moves == 0)
    return fmt::format(
        "too few people: the number is undefined in {} of {} draws of them; compare more people",
        draws - moves, draws);
  if (scale == 0) return "no draw of people tells the runs apart; compare more people";
  return "";
}

// Counts one draw: `goodness` of each run, more is better.
void count_draw(const std::vector<double>& goodness, std::vector<RunRanking::Place>& places,
                std::vector<std::vector<double>>& ranks) {
  const double best = *std::ranges::max_element(goodness);
  const auto tied = static_cast<double>(std::ranges::count(goodness, best));
  for (std::size_t r = 0; r < goodness.size(); ++r) {
    if (goodness[r] == best) places[r].first += 1 / tied;
    const auto better = std::ranges::count_if(goodness, [&](double g) { return g > goodness[r]; });
    ranks[r].push_back(1 + static_cast<double>(better));
  }
}

void place_runs(const std::vector<std::vector<double>>& moves, double scale, double level,
                RunRanking& ranking) {
  std::vector<std::vector<double>> ranks(ranking.places.size());
  for (RunRanking::Place& place : ranking.places) place.first = 0;
  const double sign = ranking.lower_is_better ? -1 : 1;
  double draws = 0;
  for (const auto& move : moves)
    for (const double side : {scale, -scale}) {
      std::vector<double> goodness;
      for (std::size_t r = 0; r < move.size(); ++r)
        goodness.push_back(sign * (ranking.places[r].value + side * move[r]));
      count_draw(goodness, ranking.places, ranks);
      draws += 1;
    }
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    ranking.places[r].first /= draws;
    std::ranges::sort(ranks[r]);
    const auto last = static_cast<double>(ranks[r].size()) - 1;
    ranking.places[r].rank_low = ranks[r][static_cast<std::size_t>((1 - level) / 2 * last)];
    ranking.places[r].rank_high =
        ranks[r][static_cast<std::size_t>(std::ceil((1 + level) / 2 * last))];
  }
}

// The draws of few people may say more than the tests do. Of two runs that are not told apart one
// comes first in no larger a share than their test leaves, and their ranks meet.
void keep_to_tests(double level, RunRanking& ranking) {
  for (const RunRanking::Pair& pair : ranking.pairs) {
    const PairedComparison& d = pair.difference;
    if (!(d.p_value >= 1 - level) || d.value == 0) continue;
    const bool a_leads = (d.value > 0) != ranking.lower_is_better;
    RunRanking::Place& better = ranking.places[a_leads ? pair.a : pair.b];
    RunRanking::Place& worse = ranking.places[a_leads ? pair.b : pair.a];
    const double excess = std::max(better.first - (1 - d.p_value / 2), 0.0);
    better.first -= excess;
    worse.first += excess;
    if (better.rank_high < worse.rank_low) std::swap(better.rank_high, worse.rank_low);
  }
}

}  // namespace

std::vector<Difference> why_not_comparable(const fs::path& a, const fs::path& b, const Job& job) {
  return why_not(read_whole_run(a, job), read_whole_run(b, job));
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p_values.size(); ++i)
    if (!std::isnan(p_values[i])) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> adjusted(p_values.begin(), p_values.end());
  double highest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    highest = std::max(highest, p_values[order[k]] * static_cast<double>(order.size() - k));
    adjusted[order[k]] = std::min(highest, 1.0);
  }
  return adjusted;
}

RunRanking rank_runs(std::span<const fs::path> folders, const std::string& track,
                     const std::string& metric, const BootstrapOptions& options, const Job& job) {
  check_options(options);
  if (folders.size() < 2) throw std::invalid_argument("two runs or more can be ranked");
  std::vector<RunScores> runs;
  const WholeRun first = read_whole_run(folders[0], job);
  runs.push_back(first.scores);
  for (const fs::path& folder : folders.subspan(1)) {
    WholeRun next = read_whole_run(folder, job);
    if (const auto why = why_not(first, next); !why.empty())
      fail(folder.string(), fmt::format("cannot be compared with {}: {} ({} and {})",
                                        folders[0].string(), why[0].what, why[0].b, why[0].a));
    runs.push_back(std::move(next.scores));
  }

  const NamedMetric named = metric_of_number(metric);
  const Metric* of = named.metric;
  if (of == nullptr) throw std::invalid_argument(fmt::format("'{}' is not a number", metric));
  const ProtocolSpec spec = only_metric(first.scores.spec, *of);
  const NumberKey key{named.row.empty() ? metric : of->name, named.row, named.column};
  const auto drawn = draw_track(runs, track, spec, options, job);
  std::vector<const Replicates*> replicates;
  RunRanking ranking;
  for (const auto& numbers : drawn) {
    const auto found = numbers.find(key);
    if (found == numbers.end())
      throw std::invalid_argument(
          fmt::format("not every run has the number '{}' in track '{}'", metric, track));
    replicates.push_back(&found->second);
    ranking.places.push_back({.value = found->second.points[0]});
  }
  ranking.track = track;
  ranking.metric = metric;
  ranking.lower_is_better = of->lower_is_better;
  ranking.method = replicates[0]->method;

  std::vector<double> p_values;
  for (std::size_t a = 0; a < runs.size(); ++a)
    for (std::size_t b = a + 1; b < runs.size(); ++b) {
      const auto tracks = track_pairs(runs[a], runs[b]);
      const auto same = std::ranges::find(tracks, track, &TrackPairs::track);
      const auto compared =
          compare_track(runs[a], runs[b], *same, spec, runs[a].options, options, job);
      RunRanking::Pair pair{a, b, {}, 1};
      const auto found = compared.numbers.find(key);
      if (found != compared.numbers.end())
        pair.difference = found->second;
      else
        pair.difference = no_paired_comparison(compared.why_not(key));
      p_values.push_back(pair.difference.p_value);
      ranking.pairs.push_back(std::move(pair));
    }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  for (std::size_t i = 0; i < adjusted.size(); ++i) ranking.pairs[i].adjusted_p = adjusted[i];
  const auto moves = moves_of(replicates);
  const double scale = scale_of(moves, ranking.pairs);
  ranking.undefined = why_undefined(moves.size(), replicates[0]->values[0].size() / 2, scale);
  if (ranking.undefined.empty()) {
    place_runs(moves, scale, options.level, ranking);
    keep_to_tests(options.level, ranking);
  }
  return ranking;
}

Json run_ranking_json(const RunRanking& ranking) {
  Json places = Json::array(), pairs = Json::array();
  for (const RunRanking::Place& p : ranking.places)
    places.push_back(
        {{"value", number_or_null(p.value)},
         {"first", number_or_null(p.first)},
         {"rank_interval", {number_or_null(p.rank_low), number_or_null(p.rank_high)}}});
  for (const RunRanking::Pair& p : ranking.pairs)
    pairs.push_back(
        {{"a", p.a},
         {"b", p.b},
         {"difference", number_or_null(p.difference.value)},
         {"interval",
          {number_or_null(p.difference.interval.low), number_or_null(p.difference.interval.high)}},
         {"p_value", number_or_null(p.difference.p_value)},
         {"note", p.difference.interval.note.empty() ? Json() : Json(p.difference.interval.note)},
         {"no_interval",
          p.difference.no_interval.empty() ? Json() : Json(p.difference.no_interval)},
         {"adjusted_p", number_or_null(p.adjusted_p)}});
  return {{"track", ranking.track},
          {"metric", ranking.metric},
          {"lower_is_better", ranking.lower_is_better},
          {"method", ranking.method},
          {"places", std::move(places)},
          {"pairs", std::move(pairs)},
          {"undefined", ranking.undefined.empty() ? Json() : Json(ranking.undefined)}};
}

}  // namespace facebench
