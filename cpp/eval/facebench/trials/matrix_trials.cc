#include "facebench/trials/matrix_trials.h"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>
#include <unordered_set>

#include "facebench/metrics/similarity_matrix.h"
#include "facebench/trials/internal/columns.h"
#include "facebench/trials/internal/trial_kinds.h"
#include "facebench/trials/internal/trial_parts.h"
#include "facebench/trials/measurable.h"

namespace facebench {
namespace {

// Rows and columns of the scores, (groups, subjects) flattened.
std::vector<std::int32_t> by_group(const MatrixTrials& t, const std::vector<std::int32_t>& units) {
  const std::size_t groups = t.groups.size();
  std::vector<std::int32_t> result;
  for (std::size_t g = 0; g < groups; ++g)
    for (std::size_t s = 0; s < units.size() / groups; ++s) result.push_back(units[s * groups + g]);
  return result;
}

}  // namespace

void MatrixTrials::check(const TrialSet& set, const std::string& track) const {
  const auto require = [&](bool ok, const std::string& what) {
    if (!ok) throw std::invalid_argument(fmt::format("track {}: {}", track, what));
  };
  const std::size_t count = groups.size();
  require(count > 0 && !first.empty() && first.size() == second.size() && first.size() % count == 0,
          fmt::format("{} groups with {} first and {} second templates", count, first.size(),
                      second.size()));
  require(std::unordered_set<std::string>(groups.begin(), groups.end()).size() == count,
          "a group is there twice");
  std::vector<std::int32_t> all = first;
  all.insert(all.end(), second.begin(), second.end());
  check_units(all, set, track);
  check_distinct(all, set, track);
  std::unordered_set<std::int32_t> people;
  for (std::size_t k = 0; k < first.size(); ++k) {
    const std::int32_t person = set.unit_identity(first[k - k % count]);
    require(set.unit_identity(first[k]) == person && set.unit_identity(second[k]) == person,
            fmt::format("the templates of subject {} are of different people", k / count));
    require(k % count != 0 || people.insert(person).second,
            fmt::format("subject {} is there twice",
                        set.identity_names[static_cast<std::size_t>(person)]));
  }
}

std::vector<std::int32_t> MatrixTrials::units() const {
  std::vector<std::int32_t> all;
  for (std::size_t k = 0; k < first.size(); ++k) {
    all.push_back(first[k]);
    all.push_back(second[k]);
  }
  return all;
}

std::vector<std::int64_t> MatrixTrials::shape() const {
  const auto count = static_cast<std::int64_t>(groups.size());
  return {count, subjects(), count, subjects()};
}

std::optional<Comparison> MatrixTrials::comparison_at(std::int64_t k) const {
  const auto count = static_cast<std::int64_t>(groups.size());
  const std::int64_t people = subjects(), width = count * people;
  const auto unit = [&](const std::vector<std::int32_t>& units, std::int64_t i) {
    return units[static_cast<std::size_t>(i % people * count + i / people)];
  };
  return Comparison{unit(first, k / width), unit(second, k % width)};
}

std::vector<std::pair<std::string, std::int64_t>> MatrixTrials::counts(const TrialSet&) const {
  return {{"subjects", subjects()}};
}

bool MatrixTrials::same_as(const Trials& trials,
                           std::span<const std::int32_t> unit_of_other) const {
  const auto* other = dynamic_cast<const MatrixTrials*>(&trials);
  return other && groups == other->groups && same_units(other->first, first, unit_of_other) &&
         same_units(other->second, second, unit_of_other);
}

Scores MatrixTrials::score(const UnitEmbeddings& units, const Storage&, const Job& job) const {
  return cosine_block<double>(units, by_group(*this, first), by_group(*this, second), false, job);
}

Measurable MatrixTrials::measurable(const ScoredTrack& scored, const Job&) const {
  require_each(scored, *this);
  const std::vector<double>& scores = scored.scores.each;
  std::vector<std::uint8_t> left_out(scores.size(), 0);
  for (std::size_t k = 0; k < left_out.size(); ++k)
    left_out[k] = !takes_part(*comparison_at(static_cast<std::int64_t>(k)), scored.left_out);
  Measurable result;
  result.matrix = std::make_shared<const SimilarityMatrix>(groups, scores, std::move(left_out));
  if (scored.intervals && subjects() > 1) {
    // Subjects are numbered in their order.
    std::vector<std::int32_t> people(static_cast<std::size_t>(subjects()));
    std::iota(people.begin(), people.end(), 0);
    result.bootstrap = [people, how = scored.intervals->of_people] {
      return Bootstrap::of_people(people, how);
    };
  }
  return result;
}

void MatrixTrials::write(H5Writer& file, const std::string& group) const {
  const std::vector<std::int64_t> both = {subjects(), static_cast<std::int64_t>(groups.size())};
  file.write_texts(group + "groups", groups);
  file.write<std::int32_t>(group + "first", first, both);
  file.write<std::int32_t>(group + "second", second, both);
}

std::shared_ptr<const Trials> read_matrix_trials(const H5Reader& file, const std::string& group) {
  auto trials = std::make_shared<MatrixTrials>();
  trials->groups = file.read_texts(group + "groups");
  trials->first = file.read<std::int32_t>(group + "first", 2);
  trials->second = file.read<std::int32_t>(group + "second", 2);
  return trials;
}

}  // namespace facebench
