#include "facebench/analysis/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "facebench/analysis/run_ranking.h"
#include "facebench/core/error.h"
#include "facebench/runs/table.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// The metrics that either protocol asks for, with the targets of both.
ProtocolSpec with_metrics_of_both(const ProtocolSpec& a, const ProtocolSpec& b) {
  ProtocolSpec both = a;
  for (const MetricRequest& request : b.metrics) {
    const auto in_both = std::ranges::find(both.metrics, request.name, &MetricRequest::name);
    if (in_both == both.metrics.end()) {
      both.metrics.push_back(request);
      continue;
    }
    for (const double t : request.targets)
      if (std::ranges::find(in_both->targets, t) == in_both->targets.end())
        in_both->targets.push_back(t);
  }
  return both;
}

// What decides the numbers once there are scores; no intervals.
EvaluationOptions rules_of(const RunScores& run) {
  EvaluationOptions o = run.options;
  o.interval = "none";
  o.strict = false;
  return o;
}

// The numbers of all tracks by one set of rules; metrics that the rules refuse are absent.
using Numbers = std::map<std::string, std::map<NumberKey, double>>;  // track, number

void add_numbers(const std::vector<TrackResult>& tracks, Numbers& out) {
  for (const TrackResult& t : tracks)
    for (const Number& number : t.numbers)
      for (const auto& [key, value] : keyed_values(number)) out[t.name][key] = value;
}

Numbers numbers_by(const RunScores& run, const ProtocolSpec& metrics,
                   const EvaluationOptions& rules, const Job& job) {
  Numbers out;
  // One metric at a time, so that one which a rule refuses does not take the others with it.
  for (const MetricRequest& request : metrics.metrics) {
    ProtocolSpec one = metrics;
    one.metrics = {request};
    try {
      add_numbers(measure_tracks(run, one, rules, job), out);
    } catch (const Error&) {
      continue;
    }
  }
  return out;
}

std::optional<double> find(const Numbers& numbers, const std::string& track, const NumberKey& key) {
  const auto t = numbers.find(track);
  if (t == numbers.end()) return std::nullopt;
  const auto n = t->second.find(key);
  if (n == t->second.end() || std::isnan(n->second)) return std::nullopt;
  return n->second;
}

std::size_t rank_of(const std::string& kind) {
  const auto names = difference_kinds().names();
  return static_cast<std::size_t>(std::ranges::find(names, kind) - names.begin());
}

// Whether p-values are below 1 - level: by itself, and with all numbers together (NaN is not).
bool below(const std::optional<double>& p, double level) { return p && *p < 1 - level; }

// The first reason that matters for one number.
std::string cause_of(const ExplainedNumber& n, const std::vector<Difference>& differences) {
  if (!n.a() || !n.b()) return "convention";  // one of the two rules has no such number
  if (*n.a() == *n.b()) return "same";
  const auto same = [&](int convention) {
    return n.value[0][convention] && n.value[0][convention] == n.value[1][convention];
  };
  const bool scores_matter = !(same(0) || same(1));
  const bool convention_matters = n.value[0][0] != n.value[0][1] || n.value[1][0] != n.value[1][1];
  // Conventions can change scores too: how templates are fused.
  if (scores_matter && (!n.paired || below(n.adjusted_p, n.paired->interval.level)))
    for (const Difference& d : differences)
      if (d.matters && rank_of(d.kind) <= rank_of("convention")) return d.kind;
  if (convention_matters) return "convention";
  // Scores differ. Of many numbers some lie outside of their intervals by chance.
  return n.paired && below(n.paired->p_value, n.paired->interval.level) ? "undecided" : "chance";
}

void adjust(std::vector<ExplainedNumber>& numbers) {
  std::vector<double> p;
  for (const ExplainedNumber& n : numbers)
    p.push_back(n.paired ? n.paired->p_value : std::numeric_limits<double>::quiet_NaN());
  p = holm_adjusted(p);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!std::isnan(p[i])) numbers[i].adjusted_p = p[i];
}

std::string overall_cause(const std::vector<ExplainedNumber>& numbers) {
  std::string first = "same";
  for (const ExplainedNumber& n : numbers)
    if (n.cause != "same" && (first == "same" || rank_of(n.cause) < rank_of(first)))
      first = n.cause;
  return first;
}

Json paired_json(const std::optional<PairedComparison>& paired) {
  if (!paired) return nullptr;
  const Interval& i = paired->interval;
  return {{"value", number_or_null(paired->value)},
          {"interval", std::isnan(i.low) ? Json(nullptr) : Json({i.low, i.high})},
          {"level", i.level},
          {"method", i.method},
          {"replicates", i.replicates},
          {"note", i.note.empty() ? Json() : Json(i.note)},
          {"no_interval", paired->no_interval.empty() ? Json() : Json(paired->no_interval)},
          {"p_value", number_or_null(paired->p_value)}};
}

}  // namespace

std::optional<double> ExplainedNumber::by_scores() const {
  if (!value[0][0] || !value[1][0]) return std::nullopt;
  return *value[0][0] - *value[1][0];
}

std::optional<double> ExplainedNumber::by_convention() const {
  if (!value[1][0] || !value[1][1]) return std::nullopt;
  return *value[1][0] - *value[1][1];
}

Explanation explain(const fs::path& a, const fs::path& b, const BootstrapOptions& options,
                    const Job& job) {
  check_options(options);
  const WholeRun runs[2] = {read_whole_run(a, job), read_whole_run(b, job)};
  const std::vector<TrackPairs> pairs = track_pairs(runs[0].scores, runs[1].scores);
  Explanation e;
  e.run = {run_name(a), run_name(b)};
  e.level = options.level;
  for (int r : {0, 1}) {
    e.protocol[r] = runs[r].scores.spec.id;
    e.convention[r] = *runs[r].scores.options.convention;
  }
  e.differences = run_differences(runs[0].run, runs[1].run, runs[0].scores, runs[1].scores, pairs);
  for (const TrackPairs& p : pairs) {
    e.common += p.common;
    e.only_a += p.only_a;
    e.only_b += p.only_b;
  }

  const ProtocolSpec metrics = with_metrics_of_both(runs[0].scores.spec, runs[1].scores.spec);
  const EvaluationOptions rules[2] = {rules_of(runs[0].scores), rules_of(runs[1].scores)};
  // [run][convention]; where both follow the same rules each is computed once.
  const bool one_rule = equal_options(rules[0], rules[1]);
  Numbers numbers[2][2];
  for (int r : {0, 1}) {
    numbers[r][0] = numbers_by(runs[r].scores, metrics, rules[0], job);
    numbers[r][1] = one_rule ? numbers[r][0] : numbers_by(runs[r].scores, metrics, rules[1], job);
  }
  for (const TrackPairs& p : pairs) {
    TrackComparison paired;
    if (!p.same_scores)
      paired = compare_track(runs[0].scores, runs[1].scores, p, metrics, rules[0], options, job);
    const auto before = [](const NumberKey& x, const NumberKey& y) {
      if (x.metric != y.metric) return metric_before(x.metric, y.metric);
      return x < y;
    };
    std::set<NumberKey, decltype(before)> keys(before);  // that any of the four has
    for (const auto& [key, value] : numbers[0][0][p.track]) keys.insert(key);
    for (const auto& [key, value] : numbers[1][1][p.track]) keys.insert(key);
    for (const NumberKey& key : keys) {
      ExplainedNumber n{p.track, key, {}, {}, "", {}, ""};
      for (int r : {0, 1})
        for (int c : {0, 1}) n.value[r][c] = find(numbers[r][c], p.track, key);
      if (const auto found = paired.numbers.find(key); found != paired.numbers.end())
        n.paired = found->second;
      else if (!p.same_scores)
        n.not_paired = paired.why_not(key);
      e.numbers.push_back(std::move(n));
    }
  }
  adjust(e.numbers);
  for (ExplainedNumber& n : e.numbers) n.cause = cause_of(n, e.differences);
  e.cause = overall_cause(e.numbers);
  return e;
}

Json explanation_json(const Explanation& e) {
  Json j = {{"cause", e.cause},
            {"runs", e.run},
            {"protocols", e.protocol},
            {"conventions", e.convention},
            {"level", e.level},
            {"comparisons", {{"common", e.common}, {"only_a", e.only_a}, {"only_b", e.only_b}}},
            {"differences", Json::array()},
            {"numbers", Json::array()}};
  for (const Difference& d : e.differences)
    j["differences"].push_back(
        {{"kind", d.kind}, {"matters", d.matters}, {"what", d.what}, {"a", d.a}, {"b", d.b}});
  for (const ExplainedNumber& n : e.numbers) {
    Json number = {{"track", n.track},
                   {"metric", n.key.metric},
                   {"a", number_or_null(n.a())},
                   {"b", number_or_null(n.b())},
                   {"a_by_b", number_or_null(n.value[0][1])},
                   {"b_by_a", number_or_null(n.value[1][0])},
                   {"by_scores", number_or_null(n.by_scores())},
                   {"by_convention", number_or_null(n.by_convention())},
                   {"paired", paired_json(n.paired)},
                   {"adjusted_p", number_or_null(n.adjusted_p)},
                   {"cause", n.cause}};
    if (!n.not_paired.empty()) number["not_paired"] = n.not_paired;
    if (!n.key.row.empty()) {
      number["row"] = n.key.row;
      number["column"] = n.key.column;
    }
    j["numbers"].push_back(std::move(number));
  }
  return j;
}

}  // namespace facebench
