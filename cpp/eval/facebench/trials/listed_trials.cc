#include "facebench/trials/listed_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

#include "facebench/metrics/centred_accuracy.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/listed_pairs.h"
#include "facebench/metrics/many_comparisons.h"
#include "facebench/trials/internal/columns.h"
#include "facebench/trials/internal/trial_kinds.h"
#include "facebench/trials/internal/trial_parts.h"
#include "facebench/trials/measurable.h"

namespace facebench {
namespace {

// Longer lists without folds are not sorted: see ManyComparisons.
constexpr std::size_t kMany = 1 << 20;
// Comparisons that are scored together.
constexpr std::size_t kPiece = 1 << 22;

// Who is compared with whom, and in which fold, without what is left out.
struct People {
  std::vector<std::int32_t> first, second, folds;
  ComparisonGraph graph() const { return {first, second, folds}; }
};

std::shared_ptr<const People> people_of(const ListedTrials& trials, const ScoredTrack& scored) {
  auto out = std::make_shared<People>();
  out->first.reserve(trials.comparisons.size());
  out->second.reserve(trials.comparisons.size());
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
Comparisons sorted(const ListedTrials& trials, const ScoredTrack& scored, const People& people,
                   std::span<const double> scores) {
  std::vector<double> taking_part;
  std::vector<std::uint8_t> labels;
  for (std::size_t k = 0; k < trials.comparisons.size(); ++k) {
    if (!takes_part(trials.comparisons[k], scored.left_out)) continue;
    taking_part.push_back(scores[k]);
    labels.push_back(trials.genuine[k]);
  }
  return {taking_part, labels, people.folds};
}

// Sorted, with the scores of centred embeddings where they were kept.
std::shared_ptr<const Comparisons> list_of(const ListedTrials& trials, const ScoredTrack& scored,
                                           const People& people) {
  const Scores& kept = scored.scores;
  const std::size_t n = kept.each.size();
  auto list = std::make_shared<Comparisons>(sorted(trials, scored, people, kept.each));
  if (kept.centred.empty()) return list;
  if (kept.centred.size() < static_cast<std::size_t>(trials.fold_count()) * n)
    throw std::invalid_argument("centred scores of fewer folds than the list has");
  std::vector<Comparisons> of_fold;
  for (const std::int32_t fold : list->fold_names())
    of_fold.push_back(
        sorted(trials, scored, people,
               std::span(kept.centred).subspan(static_cast<std::size_t>(fold) * n, n)));
  list->set_centred(std::move(of_fold));
  return list;
}

// For each fold the scores less the mean embedding of the others: the embeddings as they are given,
// of the comparisons without a failed side.
std::vector<double> centred_of_folds(const ListedTrials& trials, const UnitEmbeddings& units,
                                     std::span<const std::size_t> scored, const Job& job) {
  std::vector<float> first, second;
  std::vector<std::int32_t> folds;
  for (const std::size_t k : scored) {
    const auto [a, b] = trials.comparisons[k];
    const auto left = units.row(a), right = units.row(b);
    first.insert(first.end(), left.begin(), left.end());
    second.insert(second.end(), right.begin(), right.end());
    folds.push_back(trials.fold[k]);
  }
  const std::size_t n = trials.comparisons.size();
  std::vector<double> all(static_cast<std::size_t>(trials.fold_count()) * n, failed_score({}));
  parallel_for(trials.fold_count(), job, [&](std::int64_t fold, int) {
    const std::vector<double> of_fold = centred_scores(
        first, second, static_cast<std::size_t>(units.dim), folds, static_cast<std::int32_t>(fold));
    for (std::size_t i = 0; i < scored.size(); ++i)
      all[static_cast<std::size_t>(fold) * n + scored[i]] = of_fold[i];
  });
  return all;
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
  std::vector<bool> seen;
  for (const Comparison& c : comparisons)
    for (const std::int32_t u : {c.first, c.second}) {
      const auto unit = static_cast<std::size_t>(u);
      if (unit >= seen.size()) seen.resize(2 * unit + 1);
      if (!seen[unit]) all.push_back(u);
      seen[unit] = true;
    }
  return all;
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
  const ListedTrials* other = trials.list();
  if (!other || comparisons.size() != other->comparisons.size()) return false;
  for (std::size_t k = 0; k < comparisons.size(); ++k)
    if (key_of(*this, k, unit_of_other) != key_of(*other, k, {})) return false;
  return true;
}

std::vector<std::pair<std::int64_t, std::int64_t>> ListedTrials::shared_with(
    const ListedTrials& other, std::span<const std::int32_t> unit_of_other) const {
  // A pair that is listed more than once meets itself as often, in order.
  std::multimap<Key, std::int64_t> where;
  for (std::size_t k = 0; k < other.comparisons.size(); ++k)
    where.emplace(key_of(other, k, {}), static_cast<std::int64_t>(k));
  std::vector<std::pair<std::int64_t, std::int64_t>> shared;
  for (std::size_t k = 0; k < comparisons.size(); ++k)
    if (const auto same = where.lower_bound(key_of(*this, k, unit_of_other));
        same != where.end() && same->first == key_of(*this, k, unit_of_other)) {
      shared.emplace_back(static_cast<std::int64_t>(k), same->second);
      where.erase(same);
    }
  return shared;
}

ListedTrials ListedTrials::only(std::span<const std::int64_t> numbers) const {
  ListedTrials chosen;
  for (const std::int64_t n : numbers) {
    const auto k = static_cast<std::size_t>(n);
    chosen.comparisons.push_back(comparisons[k]);
    chosen.genuine.push_back(genuine[k]);
    if (!fold.empty()) chosen.fold.push_back(fold[k]);
  }
  return chosen;
}

Scores ListedTrials::score(const UnitEmbeddings& units, const Storage& storage,
                           const Job& job) const {
  std::vector<std::int32_t> first, second;
  std::vector<std::size_t> scored;
  std::vector<double> all(comparisons.size(), failed_score({}));
  const EmbeddingRows rows(units.values, units.dim, job);
  // In pieces, so that a list of millions needs no second copy of its comparisons.
  for (std::size_t begin = 0; begin < comparisons.size(); begin += kPiece) {
    const std::size_t end = std::min(comparisons.size(), begin + kPiece);
    first.clear();
    second.clear();
    const std::size_t before = scored.size();
    for (std::size_t k = begin; k < end; ++k) {
      const auto [a, b] = comparisons[k];
      if (units.failed(a) || units.failed(b)) continue;
      first.push_back(a);
      second.push_back(b);
      scored.push_back(k);
    }
    const std::vector<double> scores = listed_pair_scores(rows, rows, first, second, job);
    for (std::size_t i = 0; i < scores.size(); ++i) all[scored[before + i]] = scores[i];
    if (storage.what != Storage::What::centred) scored.clear();
  }
  if (storage.what != Storage::What::centred) return all;
  return Scores::of_folds(std::move(all), centred_of_folds(*this, units, scored, job));
}

Measurable ListedTrials::measurable(const ScoredTrack& scored, const Job& job) const {
  require_both_classes(scored, *this);
  require_each(scored, *this);
  const auto people = people_of(*this, scored);
  Measurable result;
  // Components are drawn by comparisons, people by people.
  if (fold.empty() && scored.left_out.empty() && comparisons.size() > kMany &&
      (!scored.intervals || scored.intervals->of_list(people->graph()) != Resampling::components)) {
    // The kept scores are looked at where they are.
    const auto data = std::make_shared<const ManyComparisons>(
        ListedScores{scored.scores.each, genuine, people->first, people->second}, job);
    result.scores = data;
    if (scored.intervals)
      result.bootstrap = [data, how = scored.intervals->of_people] {
        return Bootstrap::of_people(data, how);
      };
    return result;
  }
  result.scores = result.list = list_of(*this, scored, *people);
  if (scored.intervals)
    result.bootstrap = [people, how = scored.intervals->of_list] {
      return Bootstrap(people->graph(), how(people->graph()));
    };
  return result;
}

void ListedTrials::write(H5Writer& file, const std::string& group) const {
  for (const auto& [name, side] :
       {std::pair("first", &Comparison::first), std::pair("second", &Comparison::second)}) {
    std::vector<std::int32_t> units;
    units.reserve(comparisons.size());
    for (const Comparison& c : comparisons) units.push_back(c.*side);
    write_column(file, group + name, units);
  }
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
