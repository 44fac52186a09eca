#include "facebench/analysis/run_pairing.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/evaluation/asked_metrics.h"
#include "facebench/evaluation/convention_choice.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/evaluation/metric.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/trials/listed_trials.h"
#include "facebench/trials/measurable.h"
#include "facebench/trials/scoring.h"

namespace facebench {
namespace {

// What is compared of two runs, and how.
struct Pairing {
  const ProtocolSpec& metrics;
  Convention convention;
  const BootstrapOptions& options;
  const Job& job;
};

using Refused = std::map<std::string, std::string>;  // the metric, and why it has no number

// The numbers of one run that are defined.
struct RunStatistics {
  std::vector<NumberKey> keys;
  std::vector<Statistic> values;
};

RunStatistics statistics_of(const Measurable& measurable, MetricData data, const Pairing& how,
                            Refused& refused) {
  RunStatistics out;
  for (const auto& [metric, target] : asked_metrics(how.metrics)) {
    if (metric.data != data || (metric.needs_folds && !measurable.list)) continue;
    try {
      Measured measured = metric.measure(measurable, target, how.convention);
      const auto values = keyed_values(measured.number);
      for (std::size_t i = 0; i < measured.statistics.size(); ++i) {
        if (std::isnan(values[i].second)) {
          refused.try_emplace(metric.name, "it is undefined on the comparisons that both hold");
          continue;
        }
        out.keys.push_back(values[i].first);
        out.values.push_back(std::move(measured.statistics[i]));
      }
    } catch (const std::invalid_argument& e) {  // the rule cannot take these scores
      refused.try_emplace(metric.name, e.what());
    }
  }
  return out;
}

// Those of two runs that both have.
struct PairedStatistics {
  std::vector<NumberKey> keys;
  std::vector<Statistic> a, b;
};

PairedStatistics paired_statistics(const Measurable& a, const Measurable& b, MetricData data,
                                   const Pairing& how, Refused& refused) {
  RunStatistics left = statistics_of(a, data, how, refused);
  RunStatistics right = statistics_of(b, data, how, refused);
  PairedStatistics out;
  for (std::size_t i = 0; i < left.keys.size(); ++i) {
    const auto key = std::ranges::find(right.keys, left.keys[i]);
    if (key == right.keys.end()) continue;
    out.keys.push_back(left.keys[i]);
    out.a.push_back(std::move(left.values[i]));
    out.b.push_back(std::move(right.values[static_cast<std::size_t>(key - right.keys.begin())]));
  }
  return out;
}

bool can_draw(const Measurable& measurable, MetricData data) {
  return measurable.has(data) && measurable.bootstrap_of(data);
}

void compare(const Measurable& a, const Measurable& b, const Pairing& how,
             TrackComparison& result) {
  for (const MetricData data : kAllData) {
    if (!a.has(data) || !b.has(data)) continue;
    if (!can_draw(a, data) || !can_draw(b, data)) {
      result.why_none = kNobodyElse;
      continue;
    }
    const PairedStatistics s = paired_statistics(a, b, data, how, result.refused);
    if (s.keys.empty()) continue;
    const auto compared = compare_paired(a.bootstrap_of(data)(), s.a, b.bootstrap_of(data)(), s.b,
                                         how.options, how.job);
    for (std::size_t i = 0; i < compared.size(); ++i) result.numbers[s.keys[i]] = compared[i];
  }
}

std::map<NumberKey, Replicates> draw(const Measurable& of, const Pairing& how) {
  std::map<NumberKey, Replicates> result;
  Refused refused;  // a number that is absent is an error of who asks for it
  for (const MetricData data : kAllData) {
    if (!can_draw(of, data)) continue;
    RunStatistics s = statistics_of(of, data, how, refused);
    if (s.keys.empty()) continue;
    const Replicates all = of.bootstrap_of(data)().replicates(s.values, how.options, how.job);
    for (std::size_t i = 0; i < s.keys.size(); ++i) result[s.keys[i]] = all.only(i);
  }
  return result;
}

// One run's side of a pairing: its trials and scores, cut down to the comparisons that both have.
class Side {
 public:
  // `set` is that of the run, with its people under the numbers that both runs share.
  Side(const RunScores& run, const TrialSet& set, std::size_t track,
       std::vector<std::uint8_t> left_out)
      : set_(set),
        name_(run.trials.tracks[track].name),
        trials_(run.trials.tracks[track].trials),
        all_(run.scores[track]),
        left_out_(std::move(left_out)) {}

  // Of lists alone.
  void cut(const std::vector<std::int64_t>& numbers) {
    std::vector<double> kept;
    for (const std::int64_t k : numbers) kept.push_back(all_.at(k));
    trials_ = std::make_shared<const ListedTrials>(trials_->list()->only(numbers));
    cut_ = std::move(kept);
  }

  Measurable measurable(const ProtocolSpec& metrics, const Job& job) const {
    return trials_->measurable({set_, cut_ ? *cut_ : all_, name_, left_out_,
                                &interval_methods().at("dyadic"), asks_for_searches(metrics)},
                               job);
  }

 private:
  const TrialSet& set_;
  std::string name_;
  std::shared_ptr<const Trials> trials_;
  const Scores& all_;
  std::optional<Scores> cut_;
  std::vector<std::uint8_t> left_out_;
};

// What either run leaves out, as units of a run of which unit u is to_other[u] in the other.
std::vector<std::uint8_t> left_out_by_either(const std::vector<std::uint8_t>& left_out,
                                             const std::vector<std::uint8_t>& other_left_out,
                                             const std::vector<std::int32_t>& to_other) {
  if (left_out.empty() && other_left_out.empty()) return {};
  std::vector<std::uint8_t> result(to_other.size(), 0);
  for (std::size_t u = 0; u < result.size(); ++u) {
    const std::int32_t v = to_other[u];
    result[u] = (!left_out.empty() && left_out[u]) ||
                (!other_left_out.empty() && v >= 0 && other_left_out[static_cast<std::size_t>(v)]);
  }
  return result;
}

// `set` with its people numbered as in `other`, where unit u is to_other[u]: draws follow the
// numbers, and both runs must draw the same people.
TrialSet numbered_as_in(const TrialSet& other, TrialSet set,
                        const std::vector<std::int32_t>& to_other) {
  std::vector<std::int32_t> number(set.identity_names.size(), -1);
  for (std::size_t u = 0; u < to_other.size(); ++u)
    if (to_other[u] >= 0)
      number[static_cast<std::size_t>(set.unit_identities()[u])] = other.unit_identity(to_other[u]);
  // Who is one person there and two here stays as it is.
  std::vector<std::int32_t> shared;
  std::ranges::copy_if(number, std::back_inserter(shared), [](std::int32_t i) { return i >= 0; });
  std::ranges::sort(shared);
  if (std::ranges::adjacent_find(shared) != shared.end()) return set;
  std::vector<std::string> names = other.identity_names;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (number[i] >= 0) continue;
    number[i] = static_cast<std::int32_t>(names.size());
    names.push_back(set.identity_names[i]);
  }
  for (auto* identities : {&set.identity, &set.templates.identity})
    for (std::int32_t& i : *identities) i = number[static_cast<std::size_t>(i)];
  set.identity_names = std::move(names);
  return set;
}

}  // namespace

std::vector<std::pair<NumberKey, double>> keyed_values(const Number& number) {
  if (!number.matrix) return {{{number.name, "", ""}, number.value}};
  const MatrixValue& m = *number.matrix;
  std::vector<std::pair<NumberKey, double>> values;
  for (std::size_t i = 0; i < m.values.size(); ++i)
    values.push_back({{number.name, m.rows[i / m.columns.size()], m.columns[i % m.columns.size()]},
                      m.values[i]});
  return values;
}

std::string TrackComparison::why_not(const NumberKey& key) const {
  const Metric* metric = metric_of_number(key.metric).metric;
  const auto found = refused.find(metric == nullptr ? key.metric : metric->name);
  if (found != refused.end()) return found->second;
  return why_none.empty() ? "one of the runs does not have it" : why_none;
}

TrackComparison compare_track(const RunScores& a, const RunScores& b, const TrackPairs& pairs,
                              const ProtocolSpec& metrics, const EvaluationOptions& how,
                              const BootstrapOptions& options, const Job& job) {
  TrackComparison result;
  if (!pairs.same && pairs.shared.empty()) {
    result.why_none = "the runs do not hold the same comparisons";
    return result;
  }
  const auto out_a = left_out_units(a.options, a.trials, a.status),
             out_b = left_out_units(b.options, b.trials, b.status);
  const auto to_a = units_in(b.trials, a.trials);
  const TrialSet set_b = numbered_as_in(a.trials, b.trials, to_a);
  Side left(a, a.trials, pairs.a, left_out_by_either(out_a, out_b, units_in(a.trials, b.trials)));
  Side right(b, set_b, pairs.b, left_out_by_either(out_b, out_a, to_a));
  if (!pairs.same) {
    std::vector<std::int64_t> numbers_a, numbers_b;
    for (const auto& [in_a, in_b] : pairs.shared) {
      numbers_a.push_back(in_a);
      numbers_b.push_back(in_b);
    }
    left.cut(numbers_a);
    right.cut(numbers_b);
  }
  try {
    const Measurable x = left.measurable(metrics, job), y = right.measurable(metrics, job);
    compare(x, y, {metrics, chosen_convention(how), options, job}, result);
  } catch (const std::invalid_argument& e) {  // the runs kept other outcomes
    result.why_none = e.what();
  } catch (const Error& e) {  // a class is empty, or no search is left
    result.why_none = e.what();
  }
  return result;
}

std::vector<std::map<NumberKey, Replicates>> draw_track(std::span<const RunScores> runs,
                                                        const std::string& track,
                                                        const ProtocolSpec& metrics,
                                                        const BootstrapOptions& options,
                                                        const Job& job) {
  std::vector<std::map<NumberKey, Replicates>> result(runs.size());
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const RunScores& run = runs[r];
    std::vector<std::uint8_t> left_out = left_out_units(run.options, run.trials, run.status);
    for (const RunScores& other : runs)
      left_out =
          left_out_by_either(left_out, left_out_units(other.options, other.trials, other.status),
                             units_in(run.trials, other.trials));
    const TrialSet set =
        numbered_as_in(runs[0].trials, run.trials, units_in(run.trials, runs[0].trials));
    const auto in_run = std::ranges::find(run.trials.tracks, track, &Track::name);
    if (in_run == run.trials.tracks.end())
      throw std::invalid_argument("a run has no track '" + track + "'");
    const Side side(run, set, static_cast<std::size_t>(in_run - run.trials.tracks.begin()),
                    std::move(left_out));
    result[r] = draw(side.measurable(metrics, job),
                     {metrics, chosen_convention(run.options), options, job});
  }
  return result;
}

}  // namespace facebench
