#include "facebench/analysis/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <utility>

#include "facebench/analysis/internal/counted_list.h"
#include "facebench/analysis/quality_report.h"
#include "facebench/backends/score_calibrator.h"
#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/core/extension.h"
#include "facebench/core/options.h"
#include "facebench/core/registry.h"
#include "facebench/io/exclusion.h"
#include "facebench/io/text.h"
#include "facebench/metrics/fixed_threshold.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// A list with the names behind it.
class Pairs {
 public:
  Pairs(const ListedRun& list, const TrialSet& trials, const std::set<std::string>& among)
      : list_(list), trials_(trials) {
    for (const std::string& name : among) among_.insert(compared_name(name));
  }

  InspectedPair at(std::size_t i) const {
    const std::int32_t first = list_.units[0][i], second = list_.units[1][i];
    InspectedPair pair;
    pair.first = trials_.unit_name(first);
    pair.second = trials_.unit_name(second);
    pair.first_person = person(first);
    pair.second_person = person(second);
    pair.genuine = list_.labels[i] != 0;
    pair.score = list_.scores[i];
    return pair;
  }
  const std::string& person(std::int32_t unit) const {
    return trials_.identity_names[static_cast<std::size_t>(trials_.unit_identity(unit))];
  }
  // Whether a name of the comparison is among those asked for.
  bool asked_for(std::size_t i) const {
    return among_.empty() || named(list_.units[0][i]) || named(list_.units[1][i]);
  }
  bool any_asked_for() const {
    for (std::size_t i = 0; i < list_.scores.size(); ++i)
      if (asked_for(i)) return true;
    return false;
  }
  // Throws Error for the first name that neither a person nor a sample of the comparisons has.
  void require_people(const std::vector<std::string>& names) const {
    std::set<std::string> known;
    for (const auto& units : list_.units)
      for (const std::int32_t unit : units)
        for (const std::string& name :
             {person(unit), trials_.unit_name(unit), without_extension(trials_.unit_name(unit))})
          known.insert(compared_name(name));
    for (const std::string& name : names) {
      if (known.contains(compared_name(name))) continue;
      const std::vector<std::string> all(known.begin(), known.end());
      const std::string near = closest_name(name, all);
      fail(
          list_.protocol,
          fmt::format("nobody, and no sample, is called '{}' in the comparisons{}", printable(name),
                      near.empty() ? "" : fmt::format("; did you mean '{}'?", printable(near))),
          "Name people or samples as the lists do.");
    }
  }
  // The first `count` of the comparisons that `wanted` says, in the order of `before`.
  template <class Wanted, class Before>
  std::vector<std::size_t> first_of(std::int64_t count, Wanted wanted, Before before) const {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < list_.scores.size(); ++i)
      if (asked_for(i) && wanted(i)) chosen.push_back(i);
    std::ranges::stable_sort(chosen, before);
    if (std::ssize(chosen) > count) chosen.resize(static_cast<std::size_t>(count));
    return chosen;
  }

 private:
  bool named(std::int32_t unit) const {
    const std::string name = compared_name(trials_.unit_name(unit));
    return among_.contains(name) || among_.contains(without_extension(name)) ||
           among_.contains(compared_name(person(unit)));
  }

  const ListedRun& list_;
  const TrialSet& trials_;
  std::set<std::string> among_;  // as compared_name() has them
};

double rate(std::int64_t errors, std::int64_t all) {
  return all > 0 ? static_cast<double>(errors) / static_cast<double>(all)
                 : std::numeric_limits<double>::quiet_NaN();
}

std::vector<PersonInfluence> influence_of(const ListedRun& list, const TrialSet& trials,
                                          double threshold, std::int64_t count) {
  struct Counts {
    std::int64_t all[2] = {0, 0}, wrong[2] = {0, 0};  // impostor, genuine
  };
  Counts total;
  std::map<std::int32_t, Counts> of_person;
  for (std::size_t i = 0; i < list.scores.size(); ++i) {
    const int kind = list.labels[i] != 0;
    const bool wrong = (list.scores[i] >= threshold) != (kind != 0);
    const std::int32_t a = list.people[0][i], b = list.people[1][i];
    const auto add = [&](Counts& c) {
      ++c.all[kind];
      c.wrong[kind] += wrong;
    };
    add(total);
    add(of_person[a]);
    if (a != b) add(of_person[b]);
  }
  std::vector<std::pair<double, PersonInfluence>> influences;
  for (const auto& [person, c] : of_person) {
    PersonInfluence p;
    p.person = trials.identity_names[static_cast<std::size_t>(person)];
    p.comparisons = c.all[0] + c.all[1];
    p.errors = c.wrong[0] + c.wrong[1];
    p.fmr = rate(total.wrong[0] - c.wrong[0], total.all[0] - c.all[0]);
    p.fnmr = rate(total.wrong[1] - c.wrong[1], total.all[1] - c.all[1]);
    double moved = 0;
    for (const int kind : {0, 1})
      if (const double before = rate(total.wrong[kind], total.all[kind]); before > 0)
        moved = std::max(moved, std::abs((kind ? p.fnmr : p.fmr) / before - 1));
    influences.emplace_back(moved, std::move(p));
  }
  std::ranges::stable_sort(influences,
                           [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<PersonInfluence> result;
  for (auto& [moved, p] : influences)
    if (moved > 0 && std::ssize(result) < count) result.push_back(std::move(p));
  return result;
}

std::vector<LabelSuspect> find_suspects(const ListedRun& list, const Pairs& pairs,
                                        const TrialSet& trials, std::int64_t count) {
  double lowest_genuine = INFINITY, highest_impostor = -INFINITY;
  for (std::size_t i = 0; i < list.scores.size(); ++i)
    if (list.labels[i])
      lowest_genuine = std::min(lowest_genuine, list.scores[i]);
    else
      highest_impostor = std::max(highest_impostor, list.scores[i]);
  // Classes that a threshold separates hold no label that the scores contradict.
  if (!std::isfinite(lowest_genuine) || !std::isfinite(highest_impostor) ||
      lowest_genuine > highest_impostor)
    return {};
  const ScoreCalibrator calibrator =
      fit_calibrator(Comparisons(list.scores, list.labels), "logistic");
  const double most = std::log1p(static_cast<double>(list.scores.size()));
  std::vector<double> against(list.scores.size());  // the label of each comparison
  std::vector<double> of_unit(trials.units(), 0);
  std::vector<std::vector<std::size_t>> comparisons(trials.units());
  for (std::size_t i = 0; i < against.size(); ++i) {
    const double llr = std::clamp(calibrator.apply(list.scores[i]), -most, most);
    against[i] = list.labels[i] ? -llr : std::max(llr, 0.0);
    const std::int32_t first = list.units[0][i], second = list.units[1][i];
    for (const std::int32_t u : {first, second}) {
      comparisons[static_cast<std::size_t>(u)].push_back(i);
      of_unit[static_cast<std::size_t>(u)] += against[i];
      if (first == second) break;
    }
  }
  const auto sample = [&](std::int32_t unit) { return trials.unit_name(unit); };
  std::vector<std::uint8_t> gone(against.size(), 0);
  std::vector<LabelSuspect> suspects;
  while (std::ssize(suspects) < count) {
    const auto best = std::ranges::max_element(of_unit);
    if (best == of_unit.end() || !(*best > 0)) break;
    const auto u = static_cast<std::size_t>(best - of_unit.begin());
    LabelSuspect s;
    s.evidence = *best / std::numbers::ln10;
    std::size_t worst = against.size();
    for (const std::size_t i : comparisons[u]) {
      if (gone[i]) continue;
      ++s.comparisons;
      s.against += against[i] > 0;
      if (worst == against.size() || against[i] > against[worst]) worst = i;
    }
    if (s.against == 0) {  // what is left of the sum is rounding
      *best = -INFINITY;
      continue;
    }
    s.worst = pairs.at(worst);
    const std::int32_t self = static_cast<std::int32_t>(u);
    const std::int32_t partner = list.units[list.units[0][worst] == self][worst];
    std::vector<std::int32_t> units = {self};
    // Nothing tells which of the two it is.
    if (partner != self &&
        std::abs(of_unit[static_cast<std::size_t>(partner)] - *best) < 1e-9 * *best)
      units.push_back(partner);
    for (const std::int32_t unit : units) {
      s.samples.push_back(sample(unit));
      const std::string& person = pairs.person(unit);
      if (std::ranges::find(s.people, person) == s.people.end()) s.people.push_back(person);
      for (const std::size_t i : comparisons[static_cast<std::size_t>(unit)]) {
        if (std::exchange(gone[i], std::uint8_t{1})) continue;
        const std::int32_t first = list.units[0][i], second = list.units[1][i];
        of_unit[static_cast<std::size_t>(first)] -= against[i];
        if (second != first) of_unit[static_cast<std::size_t>(second)] -= against[i];
      }
      of_unit[static_cast<std::size_t>(unit)] = -INFINITY;
    }
    suspects.push_back(std::move(s));
  }
  // Without a wrong sample another may stand alone, and be suspected more than before.
  std::ranges::stable_sort(suspects, std::greater{}, &LabelSuspect::evidence);
  return suspects;
}

void add_disagreements(const ListedRun& list, const Pairs& pairs, const RunScores& run,
                       const fs::path& other, const InspectionOptions& options, Inspection& out) {
  const RunScores second = read_run_scores(other);
  const ListedRun theirs = counted_list(second, track_like(second, out.track), other);
  const auto same_name = [&](std::int32_t one, std::int32_t other_one) {
    return run.trials.unit_name(one) == second.trials.unit_name(other_one);
  };
  if (!std::ranges::equal(list.units[0], theirs.units[0], same_name) ||
      !std::ranges::equal(list.units[1], theirs.units[1], same_name))
    fail(other.string(), "this run does not hold the same comparisons",
         "Runs that leave out failed enrolments need the same failures");
  out.other_run = run_name(other);
  out.other_threshold = threshold_at(theirs, options.far);
  const auto gap = [&](std::size_t i) {
    return std::abs(list.scores[i] - out.threshold) +
           std::abs(theirs.scores[i] - out.other_threshold);
  };
  for (const std::size_t i : pairs.first_of(
           options.count,
           [&](std::size_t k) {
             return (list.scores[k] >= out.threshold) != (theirs.scores[k] >= out.other_threshold);
           },
           [&](std::size_t a, std::size_t b) { return gap(a) > gap(b); })) {
    InspectedPair pair = pairs.at(i);
    pair.other = theirs.scores[i];
    out.disagreements.push_back(std::move(pair));
  }
}

Json pair_json(const InspectedPair& p) {
  return {{"first", p.first},
          {"second", p.second},
          {"first_person", p.first_person},
          {"second_person", p.second_person},
          {"genuine", p.genuine},
          {"score", number_or_null(p.score)},
          {"other", number_or_null(p.other)}};
}

Json pairs_json(const std::vector<InspectedPair>& pairs) {
  Json list = Json::array();
  for (const InspectedPair& p : pairs) list.push_back(pair_json(p));
  return list;
}

}  // namespace

std::set<std::string> chosen_names(const PairChoice& c) {
  if (c.attributes.empty() == c.group.has_value())
    throw std::invalid_argument("a group is one of a table of attributes: give both");
  if (c.qualities.empty() == c.quality_below.has_value())
    throw std::invalid_argument("quality_below is of a table of qualities: give both");
  std::vector<std::set<std::string>> asked;
  const auto ask = [&](const fs::path& path, std::set<std::string> names) {
    if (names.empty()) fail(path.string(), "no row is what was asked for");
    asked.push_back(std::move(names));
  };
  if (!c.people.empty()) asked.emplace_back(c.people.begin(), c.people.end());
  if (c.group) {
    const CsvTable table = read_csv(c.attributes);
    if (table.columns().size() < 2)
      fail(c.attributes.string(), "needs names and another column", "The first names the rows");
    const std::size_t at = c.column ? table.column(*c.column) : 1;
    std::set<std::string> names;
    for (std::size_t row = 0; row < table.rows(); ++row)
      if (table.cell(row, at) == *c.group) names.insert(table.cell(row, 0));
    ask(c.attributes, std::move(names));
  }
  if (c.quality_below) {
    std::vector<std::string> columns;
    if (c.column) columns.push_back(*c.column);
    const NamedQuality quality = read_named_qualities(c.qualities, columns, {}).front();
    std::set<std::string> names;
    for (std::size_t i = 0; i < quality.samples.size(); ++i)
      if (quality.values[i] < *c.quality_below) names.insert(quality.samples[i]);
    ask(c.qualities, std::move(names));
  }
  if (asked.empty()) return {};
  std::set<std::string> names = asked[0];
  for (const std::set<std::string>& others : asked)
    std::erase_if(names, [&](const std::string& name) { return !others.contains(name); });
  if (names.empty()) throw std::invalid_argument("nothing is all that was asked for");
  return names;
}

void InspectionOptions::describe(OptionsBuilder<InspectionOptions>& o) {
  o.name("InspectionOptions", "What is listed, and at which threshold.");
  o.field("count", &InspectionOptions::count, "how many of each", 1, 100'000);
  o.field("track", &InspectionOptions::track, "track of the run; default: its only verification");
  o.field("threshold", &InspectionOptions::threshold,
          "accept scores of at least this; default: what gives the FAR", -1e300, 1e300);
  o.field("far", &InspectionOptions::far, "FAR that sets the threshold", 0, 1);
}

Inspection inspect_run(const fs::path& folder, const PairChoice& choice, const fs::path& other,
                       const InspectionOptions& options) {
  check_options(options);
  const std::set<std::string> among = chosen_names(choice);
  const RunScores run = read_run_scores(folder);
  const ListedRun list = counted_list(run, track_of(run, options.track), folder);
  const Pairs pairs(list, run.trials, among);
  pairs.require_people(choice.people);
  if (!pairs.any_asked_for())
    fail(folder.string(),
         fmt::format("none of its comparisons has one of the {} names asked for", among.size()),
         "Name people or samples as the lists do.");
  Inspection out;
  out.protocol = list.protocol;
  out.track = list.track;
  const ChosenThreshold threshold =
      choose_threshold(list, options.threshold, options.far, {}, out.track);
  out.threshold = threshold.value;
  out.threshold_from = threshold.from;
  const FixedThreshold rates = rates_at(Comparisons(list.scores, list.labels), out.threshold);
  out.genuine = rates.genuine;
  out.impostor = rates.impostor;
  out.fmr = rates.fmr;
  out.fnmr = rates.fnmr;
  for (const std::size_t i : pairs.first_of(
           options.count, [&](std::size_t k) { return list.labels[k] != 0; },
           [&](std::size_t a, std::size_t b) { return list.scores[a] < list.scores[b]; }))
    out.genuine_pairs.push_back(pairs.at(i));
  for (const std::size_t i : pairs.first_of(
           options.count, [&](std::size_t k) { return list.labels[k] == 0; },
           [&](std::size_t a, std::size_t b) { return list.scores[a] > list.scores[b]; }))
    out.impostor_pairs.push_back(pairs.at(i));
  if (!other.empty()) add_disagreements(list, pairs, run, other, options, out);
  out.influence = influence_of(list, run.trials, out.threshold, options.count);
  out.suspects = find_suspects(list, pairs, run.trials, options.count);
  return out;
}

Json inspection_json(const Inspection& r) {
  Json influence = Json::array(), suspects = Json::array();
  for (const PersonInfluence& p : r.influence)
    influence.push_back({{"person", p.person},
                         {"comparisons", p.comparisons},
                         {"errors", p.errors},
                         {"fmr", number_or_null(p.fmr)},
                         {"fnmr", number_or_null(p.fnmr)}});
  for (const LabelSuspect& s : r.suspects)
    suspects.push_back({{"samples", s.samples},
                        {"people", s.people},
                        {"evidence", s.evidence},
                        {"against", s.against},
                        {"comparisons", s.comparisons},
                        {"worst", pair_json(s.worst)}});
  return {{"protocol", r.protocol},
          {"track", r.track},
          {"threshold", r.threshold},
          {"threshold_from", r.threshold_from},
          {"other_run", r.other_run},
          {"other_threshold", number_or_null(r.other_threshold)},
          {"genuine", r.genuine},
          {"impostor", r.impostor},
          {"fmr", number_or_null(r.fmr)},
          {"fnmr", number_or_null(r.fnmr)},
          {"genuine_pairs", pairs_json(r.genuine_pairs)},
          {"impostor_pairs", pairs_json(r.impostor_pairs)},
          {"disagreements", pairs_json(r.disagreements)},
          {"influence", influence},
          {"suspects", suspects}};
}

std::string suspects_exclusion(const Inspection& r) {
  std::vector<std::string> samples;
  std::string comment = fmt::format(
      "Samples of {} whose scores speak against their labels: log10 of the evidence, sample.\n"
      "Look at each, and take out the lines of those that are right.\n",
      r.protocol);
  for (const LabelSuspect& s : r.suspects)
    for (const std::string& name : s.samples) {
      comment += fmt::format("{:.2f} {} ({} of {} comparisons)\n", s.evidence, name, s.against,
                             s.comparisons);
      samples.push_back(name);
    }
  return exclusion_text({}, samples, comment);
}

}  // namespace facebench
