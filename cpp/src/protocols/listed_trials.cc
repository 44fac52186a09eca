#include "facebench/protocols/listed_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/listed_pairs.h"
#include "facebench/metrics/many_comparisons.h"
#include "facebench/protocols/measurable.h"
#include "protocols/columns.h"
#include "protocols/trial_kinds.h"
#include "protocols/trial_parts.h"

namespace facebench {
namespace {

// Longer lists without folds are not sorted: see ManyComparisons.
constexpr std::size_t kMany = 1 << 20;

// Who is compared with whom, and in which fold, without what is left out.
struct People {
  std::vector<std::int32_t> first, second, folds;
  ComparisonGraph graph() const { return {first, second, folds}; }
};

std::shared_ptr<const People> people_of(const ListedTrials& trials, const ScoredTrials& scored) {
  auto out = std::make_shared<People>();
  for (std::size_t k = 0; k < trials.comparisons.size(); ++k) {
    const Comparison& c = trials.comparisons[k];
    if (!takes_part(c, scored.left_out)) continue;
    out->first.push_back(scored.set.unit_identity(c.first));
    out->second.push_back(scored.set.unit_identity(c.second));
    if (!trials.fold.empty()) out->folds.push_back(trials.fold[k]);
  }
  return out;
}

// The same comparisons with their scores, sorted.
std::shared_ptr<const Comparisons> sorted(const ListedTrials& trials, const ScoredTrials& scored,
                                          const People& people) {
  const auto& all = std::get<std::vector<double>>(scored.scores);
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  for (std::size_t k = 0; k < trials.comparisons.size(); ++k) {
    if (!takes_part(trials.comparisons[k], scored.left_out)) continue;
    scores.push_back(all[k]);
    labels.push_back(trials.genuine[k]);
  }
  return std::make_shared<const Comparisons>(scores, labels, people.folds);
}

// One comparison as a key, units in the numbers of another set.
using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::uint8_t>;
Key key_of(const ListedTrials& t, std::size_t k, std::span<const std::int32_t> rename) {
  const auto name = [&](std::int32_t u) {
    return rename.empty() ? u : rename[static_cast<std::size_t>(u)];
  };
  return {name(t.comparisons[k].first), name(t.comparisons[k].second),
          t.fold.empty() ? -1 : t.fold[k], t.genuine[k]};
}

}  // namespace

std::int64_t ListedTrials::fold_count() const {
  return fold.empty() ? 0 : *std::max_element(fold.begin(), fold.end()) + 1;
}

void ListedTrials::check(const TrialSet& set, const std::string& track) const {
  const std::size_t n = comparisons.size();
  if (n == 0) throw std::invalid_argument(fmt::format("track {}: no comparisons", track));
  if (genuine.size() != n || (!fold.empty() && fold.size() != n))
    throw std::invalid_argument(fmt::format("track {}: {} comparisons, {} labels, {} folds", track,
                                            n, genuine.size(), fold.size()));
  const auto units = static_cast<std::int32_t>(set.units());
  for (std::size_t k = 0; k < n; ++k) {
    const auto [a, b] = comparisons[k];
    const auto refuse = [&](const std::string& why) {
      throw std::invalid_argument(fmt::format("track {}, comparison {}: {}", track, k, why));
    };
    for (const std::int32_t u : {a, b})
      if (u < 0 || u >= units)
        throw std::out_of_range(
            fmt::format("track {}, comparison {}: unit {} of {}", track, k, u, units));
    if (genuine[k] > 1) refuse(fmt::format("the label is {}", genuine[k]));
    if (!fold.empty() && fold[k] < 0) refuse("fold below 0");
  }
}

std::vector<std::int32_t> ListedTrials::units() const {
  std::vector<std::int32_t> all;
  for (const Comparison& c : comparisons) {
    all.push_back(c.first);
    all.push_back(c.second);
  }
  return distinct(std::move(all));
}

std::vector<std::int64_t> ListedTrials::shape() const {
  return {static_cast<std::int64_t>(comparisons.size())};
}

std::optional<Comparison> ListedTrials::comparison_at(std::int64_t k) const {
  return comparisons[static_cast<std::size_t>(k)];
}

bool ListedTrials::genuine_at(const TrialSet&, std::int64_t k) const {
  return genuine[static_cast<std::size_t>(k)] == 1;
}

std::vector<std::pair<std::string, std::int64_t>> ListedTrials::counts(const TrialSet&) const {
  return {{"folds", fold_count()}};
}

bool ListedTrials::same_as(const Trials& trials,
                           std::span<const std::int32_t> unit_of_other) const {
  const auto* other = dynamic_cast<const ListedTrials*>(&trials);
  if (!other || comparisons.size() != other->comparisons.size()) return false;
  for (std::size_t k = 0; k < comparisons.size(); ++k)
    if (key_of(*this, k, unit_of_other) != key_of(*other, k, {})) return false;
  return true;
}

std::vector<std::pair<std::int64_t, std::int64_t>> ListedTrials::shared_with(
    const Trials& trials, std::span<const std::int32_t> unit_of_other) const {
  const auto* other = dynamic_cast<const ListedTrials*>(&trials);
  if (!other) return {};
  // A pair that is listed more than once meets itself as often, in order.
  std::multimap<Key, std::int64_t> where;
  for (std::size_t k = 0; k < other->comparisons.size(); ++k)
    where.emplace(key_of(*other, k, {}), static_cast<std::int64_t>(k));
  std::vector<std::pair<std::int64_t, std::int64_t>> shared;
  for (std::size_t k = 0; k < comparisons.size(); ++k)
    if (const auto found = where.lower_bound(key_of(*this, k, unit_of_other));
        found != where.end() && found->first == key_of(*this, k, unit_of_other)) {
      shared.emplace_back(static_cast<std::int64_t>(k), found->second);
      where.erase(found);
    }
  return shared;
}

std::shared_ptr<const Trials> ListedTrials::only(std::span<const std::int64_t> numbers) const {
  auto chosen = std::make_shared<ListedTrials>();
  for (const std::int64_t n : numbers) {
    const auto k = static_cast<std::size_t>(n);
    chosen->comparisons.push_back(comparisons[k]);
    chosen->genuine.push_back(genuine[k]);
    if (!fold.empty()) chosen->fold.push_back(fold[k]);
  }
  return chosen;
}

KeptScores ListedTrials::score(const UnitEmbeddings& units, const Storage&, const Job& job) const {
  std::vector<std::int32_t> first, second;
  std::vector<std::size_t> scored;
  for (std::size_t k = 0; k < comparisons.size(); ++k) {
    const auto [a, b] = comparisons[k];
    if (units.failed(a) || units.failed(b)) continue;
    first.push_back(a);
    second.push_back(b);
    scored.push_back(k);
  }
  const EmbeddingRows rows(units.values, units.dim, job);
  std::vector<double> scores = listed_pair_scores(rows, rows, first, second, job);
  if (scored.size() == comparisons.size()) return scores;
  std::vector<double> all(comparisons.size(), failed_score({}));
  for (std::size_t i = 0; i < scored.size(); ++i) all[scored[i]] = scores[i];
  return all;
}

Measurable ListedTrials::measurable(const ScoredTrials& scored, const Job& job) const {
  require_both_classes(scored, *this);
  const auto people = people_of(*this, scored);
  Measurable result;
  // Components are drawn by comparisons, people by people.
  if (fold.empty() && scored.left_out.empty() && comparisons.size() > kMany &&
      (!scored.resampling || scored.resampling(people->graph()) == Resampling::vertices)) {
    // The kept scores are looked at where they are.
    const auto data = std::make_shared<const ManyComparisons>(
        ListedScores{std::get<std::vector<double>>(scored.scores), genuine, people->first,
                     people->second},
        job);
    result.scores.data = data;
    if (scored.resampling)
      result.scores.bootstrap = [data] { return Bootstrap::of_identities(data); };
    return result;
  }
  result.scores.data = sorted(*this, scored, *people);
  if (scored.resampling)
    result.scores.bootstrap = [people, resampling = scored.resampling] {
      return Bootstrap(people->graph(), resampling(people->graph()));
    };
  return result;
}

void ListedTrials::write(H5Writer& file, const std::string& group) const {
  std::vector<std::int32_t> first, second;
  for (const Comparison& c : comparisons) {
    first.push_back(c.first);
    second.push_back(c.second);
  }
  write_column(file, group + "first", first);
  write_column(file, group + "second", second);
  write_column(file, group + "genuine", genuine);
  if (!fold.empty()) write_column(file, group + "fold", fold);
}

std::shared_ptr<const Trials> read_listed_trials(const H5Reader& file, const std::string& group) {
  auto trials = std::make_shared<ListedTrials>();
  const auto first = file.read<std::int32_t>(group + "first", 1);
  const auto second = file.read<std::int32_t>(group + "second", 1);
  if (first.size() != second.size())
    throw std::invalid_argument(
        fmt::format("{}: {} first and {} second sides", group, first.size(), second.size()));
  for (std::size_t k = 0; k < first.size(); ++k)
    trials->comparisons.push_back({first[k], second[k]});
  trials->genuine = file.read<std::uint8_t>(group + "genuine", 1);
  if (file.has(group + "fold")) trials->fold = file.read<std::int32_t>(group + "fold", 1);
  return trials;
}

}  // namespace facebench
