#include "facebench/metrics/group_rates.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "facebench/core/options.h"
#include "facebench/core/random.h"
#include "facebench/metrics/internal/group_measure_intervals.h"
#include "facebench/metrics/internal/measures.h"

namespace facebench {
namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;

// The comparisons of one cell: their numbers, and whether each is an error.
struct Members {
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint8_t> wrong;

  double rate(std::span<const Weight> weights) const {
    std::int64_t all = 0, errors = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Weight w = weights.empty() ? 1 : weights[numbers[i]];
      all += w;
      errors += wrong[i] * std::int64_t{w};
    }
    return all > 0 ? ratio(errors, all) : nan;
  }
  std::int64_t errors() const { return std::count(wrong.begin(), wrong.end(), 1); }
  std::vector<std::int64_t> taking_part(std::size_t comparisons) const {
    std::vector<std::int64_t> part(comparisons, 0);
    for (const std::uint32_t i : numbers) part[i] = 1;
    return part;
  }
};

// None is empty.
using Cells = std::map<Pair, Members>;

// Whether a cell is of one group that enters the measures of inequality.
bool is_within(const Pair& key, std::int32_t unknown) {
  return key.first == key.second && key.first != unknown;
}

struct BothCells {
  Cells impostor, genuine;
};

void check(const GroupedComparisons& c) {
  const std::size_t n = c.scores.size();
  check_comparisons(c.scores, c.labels);
  for (const auto& numbers : {c.first_person, c.second_person, c.first_group, c.second_group}) {
    if (numbers.size() != n)
      throw std::invalid_argument("people and groups need one number for each comparison");
    if (std::any_of(numbers.begin(), numbers.end(), [](std::int32_t k) { return k < 0; }))
      throw std::invalid_argument("people and groups are numbers from 0");
  }
  for (const auto& numbers : {c.first_group, c.second_group})
    for (const std::int32_t k : numbers)
      if (static_cast<std::size_t>(k) >= c.groups.size())
        throw std::invalid_argument("a group has a number without a name");
}

// By (smaller, larger) group. `group_of(i)` gives both groups of comparison i.
BothCells cells_of(const GroupedComparisons& c, double threshold,
                   const std::function<Pair(std::size_t)>& group_of) {
  BothCells cells;
  for (std::size_t i = 0; i < c.scores.size(); ++i) {
    Pair key = group_of(i);
    if (key.first > key.second) std::swap(key.first, key.second);
    const bool genuine = c.labels[i] != 0;
    Members& members = (genuine ? cells.genuine : cells.impostor)[key];
    members.numbers.push_back(static_cast<std::uint32_t>(i));
    members.wrong.push_back((c.scores[i] >= threshold) != genuine);
  }
  return cells;
}

// The rates within each group that has one.
std::vector<double> within(const Cells& cells, std::int32_t unknown) {
  std::vector<double> rates;
  for (const auto& [key, members] : cells)
    if (is_within(key, unknown)) rates.push_back(members.rate({}));
  return rates;
}

// The group of each person; empty where somebody is in several.
std::vector<std::int32_t> group_of_people(const GroupedComparisons& c) {
  std::vector<std::int32_t> groups;
  for (std::size_t i = 0; i < c.scores.size(); ++i)
    for (const Pair& member :
         {Pair{c.first_person[i], c.first_group[i]}, Pair{c.second_person[i], c.second_group[i]}}) {
      const auto person = static_cast<std::size_t>(member.first);
      if (groups.size() <= person) groups.resize(person + 1, -1);
      if (groups[person] >= 0 && groups[person] != member.second) return {};
      groups[person] = member.second;
    }
  return groups;
}

std::vector<std::int64_t> people_in_groups(const GroupedComparisons& c) {
  std::vector<Pair> members;
  for (std::size_t i = 0; i < c.scores.size(); ++i) {
    members.push_back({c.first_group[i], c.first_person[i]});
    members.push_back({c.second_group[i], c.second_person[i]});
  }
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  std::vector<std::int64_t> counts(c.groups.size(), 0);
  for (const Pair& member : members) ++counts[static_cast<std::size_t>(member.first)];
  return counts;
}

// How often people who are dealt to the groups at random give at least the values that were seen.
// Those of the unknown group stay there.
std::vector<double> permutation_test(const GroupedComparisons& c, double threshold,
                                     std::span<const double> seen, const GroupRatesOptions& options,
                                     const Job& job) {
  std::vector<double> p(seen.size(), nan);
  const std::vector<std::int32_t> groups = group_of_people(c);
  if (groups.empty() || options.permutations == 0) return p;
  std::vector<std::size_t> people;
  for (std::size_t k = 0; k < groups.size(); ++k)
    if (groups[k] >= 0 && groups[k] != c.unknown) people.push_back(k);
  const auto& measures = group_measures().entries();
  const auto n = static_cast<std::size_t>(options.permutations);
  std::vector<std::uint8_t> reached(n * measures.size(), 0);
  parallel_for(options.permutations, job, [&](std::int64_t r, int) {
    std::vector<std::int32_t> dealt;
    for (const std::size_t k : people) dealt.push_back(groups[k]);
    Random random(static_cast<std::uint64_t>(options.seed), "groups.permutation",
                  {static_cast<std::uint64_t>(r)});
    shuffle(dealt, random);
    std::vector<std::int32_t> of_person = groups;
    for (std::size_t k = 0; k < people.size(); ++k) of_person[people[k]] = dealt[k];
    const BothCells cells = cells_of(c, threshold, [&](std::size_t i) {
      return Pair{of_person[static_cast<std::size_t>(c.first_person[i])],
                  of_person[static_cast<std::size_t>(c.second_person[i])]};
    });
    const std::vector<double> fmr = within(cells.impostor, c.unknown);
    const std::vector<double> fnmr = within(cells.genuine, c.unknown);
    for (std::size_t m = 0; m < measures.size(); ++m) {
      const double value = measure_of(measures[m], fmr, fnmr);
      // An undefined value is a ratio to 0, the largest that there is.
      reached[static_cast<std::size_t>(r) * measures.size() + m] =
          std::isnan(value) || (measures[m].falls ? value <= seen[m] : value >= seen[m]);
    }
  });
  for (std::size_t m = 0; m < measures.size(); ++m) {
    if (std::isnan(seen[m])) continue;
    std::int64_t count = 0;
    for (std::size_t r = 0; r < n; ++r) count += reached[r * measures.size() + m];
    p[m] = ratio(1 + count, 1 + options.permutations);
  }
  return p;
}

GroupCell cell_of(const Pair& key, const Members& members, double overall) {
  GroupCell cell;
  cell.first = key.first;
  cell.second = key.second;
  cell.comparisons = static_cast<std::int64_t>(members.numbers.size());
  cell.errors = members.errors();
  cell.rate = members.rate({});
  cell.few = !enough_expected(overall * static_cast<double>(cell.comparisons));
  return cell;
}

double overall_rate(const Cells& cells) {
  std::int64_t all = 0, errors = 0;
  for (const auto& [key, members] : cells) {
    all += static_cast<std::int64_t>(members.numbers.size());
    errors += members.errors();
  }
  return all > 0 ? ratio(errors, all) : nan;
}

}  // namespace

void GroupRatesOptions::describe(OptionsBuilder<GroupRatesOptions>& o) {
  o.name("GroupRatesOptions", "How the rates of groups get their intervals and tests.");
  o.field("replicates", &GroupRatesOptions::replicates, "resampled data sets", 20, 10'000'000);
  o.field("level", &GroupRatesOptions::level, "confidence level of the intervals", 0.5, 0.9999);
  o.field("seed", &GroupRatesOptions::seed, "seed of resampling and permutations", 0, 9e15);
  o.field("permutations", &GroupRatesOptions::permutations,
          "random assignments of people to groups; 0: no test", 0, 10'000'000);
}

GroupRates group_rates(const GroupedComparisons& c, double threshold,
                       const GroupRatesOptions& options, const Job& job) {
  check_options(options);
  check(c);
  if (std::isnan(threshold)) throw std::invalid_argument("the threshold is NaN");
  const auto cells = std::make_shared<const BothCells>(cells_of(c, threshold, [&](std::size_t i) {
    return Pair{c.first_group[i], c.second_group[i]};
  }));
  GroupRates result;
  result.threshold = threshold;
  result.groups = c.groups;
  result.people = people_in_groups(c);
  result.fmr = overall_rate(cells->impostor);
  result.fnmr = overall_rate(cells->genuine);

  std::vector<Statistic> statistics;
  std::vector<GroupCell*> targets;
  RateNumbers fmr, fnmr;  // the statistics of those that the measures are of
  const auto add_cells = [&](const Cells& from, double overall, std::vector<GroupCell>& to,
                             RateNumbers& numbers) {
    to.reserve(from.size());  // the addresses must stay
    for (const auto& [key, members] : from) {
      if (is_within(key, c.unknown)) numbers.push_back(statistics.size());
      to.push_back(cell_of(key, members, overall));
      const Members* m = &members;
      statistics.push_back({"rate", [cells, m](std::span<const Weight> w) { return m->rate(w); },
                            1 / static_cast<double>(members.numbers.size())});
      statistics.back().bases = {{to.back().comparisons, [cells, m, all = c.scores.size()] {
                                    return m->taking_part(all);
                                  }}};
      targets.push_back(&to.back());
    }
  };
  add_cells(cells->impostor, result.fmr, result.fmr_cells, fmr);
  add_cells(cells->genuine, result.fnmr, result.fnmr_cells, fnmr);

  const Bootstrap bootstrap({c.first_person, c.second_person, {}}, Resampling::dyadic);
  const Replicates replicates = bootstrap.replicates_with_freedom(
      statistics, {options.replicates, options.level, options.seed}, job);
  for (std::size_t i = 0; i < statistics.size(); ++i)
    targets[i]->interval = interval_of(replicates, i, statistics[i], options.level);
  const GroupMeasureIntervals measured(replicates, fmr, fnmr, options.level);
  std::vector<double> seen;
  for (const GroupMeasure& measure : group_measures().entries()) {
    result.measures.push_back(
        {measure.name, measured.value(measure), measured.interval(measure), nan});
    seen.push_back(result.measures.back().value);
  }
  const std::vector<double> p = permutation_test(c, threshold, seen, options, job);
  for (std::size_t m = 0; m < p.size(); ++m) result.measures[m].p = p[m];
  return result;
}

}  // namespace facebench
