#include "facebench/reports/run_pairing.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/protocols/convention_choice.h"
#include "facebench/protocols/evaluate.h"
#include "facebench/protocols/measurable.h"
#include "facebench/protocols/scoring.h"

namespace facebench {
namespace {

using Differences = std::map<NumberKey, PairedComparison>;

// What is compared of two runs, and how.
struct Pairing {
  const ProtocolSpec& metrics;
  Convention convention;
  const BootstrapOptions& options;
  const Job& job;
};

double value_of(const MetricCell& cell, std::size_t i) {
  return cell.matrix ? cell.matrix->values[i] : cell.value;
}

NumberKey key_of(const MetricCell& cell, std::size_t i) {
  if (!cell.matrix) return {cell.name, "", ""};
  const std::size_t width = cell.matrix->columns.size();
  return {cell.name, cell.matrix->rows[i / width], cell.matrix->columns[i % width]};
}

template <class Data>
bool can_measure(const Metric& metric, const Data& data) {
  if constexpr (std::is_same_v<Data, ScoreSet>)
    return !metric.needs_folds || data.listed();
  else
    return true;
}

// The numbers of one run that are defined; a rule that cannot take these scores has none.
struct RunStatistics {
  std::vector<NumberKey> keys;
  std::vector<Statistic> values;
};

template <class Data>
RunStatistics statistics_of(const std::shared_ptr<const Data>& data, const Pairing& how) {
  RunStatistics out;
  const std::vector<double> once = {0.0};
  for (const MetricRequest& request : how.metrics.metrics) {
    const Metric& metric = protocol_metrics().at(request.name);
    const auto* rule = std::get_if<Rule<Data>>(&metric.rule);
    if (!rule || !can_measure(metric, *data)) continue;
    for (const double target : metric.takes_targets ? request.targets : once) {
      try {
        require_rule(metric, how.convention);
        const MetricCell cell = rule->cell(*data, target, how.convention);
        auto statistics = rule->statistics(data, target, how.convention);
        for (std::size_t i = 0; i < statistics.size(); ++i) {
          if (std::isnan(value_of(cell, i))) continue;
          out.keys.push_back(key_of(cell, i));
          out.values.push_back(std::move(statistics[i]));
        }
      } catch (const std::invalid_argument&) {
        continue;
      }
    }
  }
  return out;
}

// Those of two runs that both have.
struct PairedStatistics {
  std::vector<NumberKey> keys;
  std::vector<Statistic> a, b;
};

template <class Data>
PairedStatistics paired_statistics(const std::shared_ptr<const Data>& a,
                                   const std::shared_ptr<const Data>& b, const Pairing& how) {
  RunStatistics left = statistics_of(a, how), right = statistics_of(b, how);
  PairedStatistics out;
  for (std::size_t i = 0; i < left.keys.size(); ++i) {
    const auto found = std::ranges::find(right.keys, left.keys[i]);
    if (found == right.keys.end()) continue;
    out.keys.push_back(left.keys[i]);
    out.a.push_back(std::move(left.values[i]));
    out.b.push_back(std::move(right.values[static_cast<std::size_t>(found - right.keys.begin())]));
  }
  return out;
}

template <class Data>
void compare(const Resampled<Data>& a, const Resampled<Data>& b, const Pairing& how,
             Differences& result) {
  if (!a.data || !b.data || !a.bootstrap || !b.bootstrap) return;
  const PairedStatistics s = paired_statistics(a.data, b.data, how);
  if (s.keys.empty()) return;
  const auto compared =
      compare_paired(a.bootstrap(), s.a, b.bootstrap(), s.b, how.options, how.job);
  for (std::size_t i = 0; i < compared.size(); ++i) result[s.keys[i]] = compared[i];
}

template <class Data>
void draw(const Resampled<Data>& of, const Pairing& how, std::map<NumberKey, Replicates>& result) {
  if (!of.data || !of.bootstrap) return;
  RunStatistics s = statistics_of(of.data, how);
  if (s.keys.empty()) return;
  const Replicates all = of.bootstrap().replicates(s.values, how.options, how.job);
  for (std::size_t i = 0; i < s.keys.size(); ++i) {
    Replicates one = all;
    one.points = {all.points[i]};
    one.values = {all.values[i]};
    result[s.keys[i]] = std::move(one);
  }
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

  void cut(const std::vector<std::int64_t>& numbers) {
    std::vector<double> kept;
    for (const std::int64_t k : numbers) kept.push_back(score_at(all_, k));
    trials_ = trials_->only(numbers);
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
  const KeptScores& all_;
  std::optional<KeptScores> cut_;
  std::vector<std::uint8_t> left_out_;
};

// What either run leaves out, as units of a run of which unit u is to_other[u] in the other.
std::vector<std::uint8_t> left_out_by_either(const std::vector<std::uint8_t>& own,
                                             const std::vector<std::uint8_t>& other,
                                             const std::vector<std::int32_t>& to_other) {
  if (own.empty() && other.empty()) return {};
  std::vector<std::uint8_t> result(to_other.size(), 0);
  for (std::size_t u = 0; u < result.size(); ++u) {
    const std::int32_t v = to_other[u];
    result[u] = (!own.empty() && own[u]) ||
                (!other.empty() && v >= 0 && other[static_cast<std::size_t>(v)]);
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

std::map<NumberKey, PairedComparison> compare_track(
    const RunScores& a, const RunScores& b, const TrackPairs& pairs, const ProtocolSpec& metrics,
    const EvaluationOptions& how, const BootstrapOptions& options, const Job& job) {
  Differences result;
  if (!pairs.same && pairs.shared.empty()) return result;
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
    const Pairing pairing{metrics, chosen_convention(how), options, job};
    compare(x.scores, y.scores, pairing, result);
    compare(x.matrix, y.matrix, pairing, result);
    compare(x.searches, y.searches, pairing, result);
  } catch (const std::invalid_argument&) {
    // Nothing can be drawn again (a single person, say), or the runs kept other outcomes.
  } catch (const Error&) {
    // A class is empty, or no search is left.
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
    const auto found = std::ranges::find(run.trials.tracks, track, &Track::name);
    if (found == run.trials.tracks.end())
      throw std::invalid_argument("a run has no track '" + track + "'");
    const Side side(run, set, static_cast<std::size_t>(found - run.trials.tracks.begin()),
                    std::move(left_out));
    const Measurable m = side.measurable(metrics, job);
    const Pairing how{metrics, chosen_convention(run.options), options, job};
    draw(m.scores, how, result[r]);
    draw(m.matrix, how, result[r]);
    draw(m.searches, how, result[r]);
  }
  return result;
}

}  // namespace facebench
