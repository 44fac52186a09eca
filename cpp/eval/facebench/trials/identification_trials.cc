#include "facebench/trials/identification_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "facebench/metrics/listed_pairs.h"
#include "facebench/metrics/searches.h"
#include "facebench/trials/internal/columns.h"
#include "facebench/trials/internal/searched_units.h"
#include "facebench/trials/internal/trial_kinds.h"
#include "facebench/trials/internal/trial_parts.h"
#include "facebench/trials/measurable.h"

namespace facebench {
namespace {

// Searches in blocks of probes, so that memory does not grow with the scores.
SearchRecord search(const UnitEmbeddings& units, const std::vector<std::int32_t>& probes,
                    const std::vector<std::int32_t>& gallery, const Job& job) {
  const EnrolledUnits right = enrolled_units(units, gallery);
  Job inner = job;
  inner.progress = nullptr;
  const EmbeddingRows columns(right.values, units.dim, inner);
  const auto rows = [&](std::size_t first, std::size_t count) {
    const EnrolledUnits left = enrolled_units(units, std::span(probes).subspan(first, count));
    std::vector<float> block;
    if (!left.position.empty() && !right.position.empty())
      block = dense_scores(EmbeddingRows(left.values, units.dim, inner), columns, inner);
    if (left.position.size() == count && right.position.size() == gallery.size()) return block;
    std::vector<float> all(count * gallery.size(), static_cast<float>(failed_score({})));
    place_scores<float>(block, left.position, right.position, gallery.size(), all);
    return all;
  };
  return Searches(rows, at_positions(units.identity, probes), at_positions(units.identity, gallery),
                  job)
      .record();
}

}  // namespace

void IdentificationTrials::check(const TrialSet& set, const std::string& track) const {
  if (gallery.empty() || probes.empty())
    throw std::invalid_argument(fmt::format("track {}: {} units in the gallery and {} probes",
                                            track, gallery.size(), probes.size()));
  const std::vector<std::int32_t> all = units();
  check_units(all, set, track);
  check_distinct(all, set, track);  // a unit in both would find itself
}

std::vector<std::int32_t> IdentificationTrials::units() const { return joined(gallery, probes); }

std::vector<std::int64_t> IdentificationTrials::shape() const {
  return {static_cast<std::int64_t>(probes.size()), static_cast<std::int64_t>(gallery.size())};
}

std::optional<Comparison> IdentificationTrials::comparison_at(std::int64_t k) const {
  const auto n = static_cast<std::size_t>(k);
  return Comparison{probes[n / gallery.size()], gallery[n % gallery.size()]};
}

TrialSize IdentificationTrials::size(const TrialSet& set,
                                     std::span<const std::uint8_t> left_out) const {
  return size_of_all_pairs(track_side(set.unit_identities(), probes, left_out),
                           track_side(set.unit_identities(), gallery, left_out), false);
}

std::vector<std::pair<std::string, std::int64_t>> IdentificationTrials::counts(
    const TrialSet& set) const {
  std::unordered_set<std::int32_t> enrolled;
  for (const std::int32_t u : gallery) enrolled.insert(set.unit_identity(u));
  const auto mated = std::ranges::count_if(
      probes, [&](std::int32_t u) { return enrolled.contains(set.unit_identity(u)); });
  const auto all = static_cast<std::int64_t>(probes.size());
  return {{"gallery", static_cast<std::int64_t>(gallery.size())},
          {"probes", all},
          {"mated", mated},
          {"non_mated", all - mated}};
}

bool IdentificationTrials::same_as(const Trials& trials,
                                   std::span<const std::int32_t> unit_of_other) const {
  const auto* other = dynamic_cast<const IdentificationTrials*>(&trials);
  return other && same_units(other->probes, probes, unit_of_other) &&
         same_units(other->gallery, gallery, unit_of_other);
}

Scores IdentificationTrials::score(const UnitEmbeddings& units, const Storage& storage,
                                   const Job& job) const {
  if (storage.what == Storage::What::all)
    return cosine_block<float>(units, probes, gallery, false, job);
  SearchRecord all = search(units, probes, gallery, job);
  std::optional<SearchRecord> enrolled;
  const std::vector<std::uint8_t> failed = failed_units(units.status);
  const SearchedUnits used = searched_units(track_side(units.identity, probes, failed),
                                            track_side(units.identity, gallery, failed));
  if (!used.whole && !used.probes.empty() && !used.gallery.empty())
    enrolled =
        search(units, at_positions(probes, used.probes), at_positions(gallery, used.gallery), job);
  return Scores::of_searches(std::move(all), std::move(enrolled));
}

Measurable IdentificationTrials::measurable(const ScoredTrack& scored, const Job& job) const {
  if (!scored.scores.outcomes) require_each(scored, *this);
  Measurable result;
  add_searches(scored, track_side(scored.set.unit_identities(), probes, scored.left_out),
               track_side(scored.set.unit_identities(), gallery, scored.left_out), job, result);
  return result;
}

void IdentificationTrials::write(H5Writer& file, const std::string& group) const {
  write_column(file, group + "gallery", gallery);
  write_column(file, group + "probes", probes);
}

std::shared_ptr<const Trials> read_identification_trials(const H5Reader& file,
                                                         const std::string& group) {
  auto trials = std::make_shared<IdentificationTrials>();
  trials->gallery = file.read<std::int32_t>(group + "gallery", 1);
  trials->probes = file.read<std::int32_t>(group + "probes", 1);
  return trials;
}

}  // namespace facebench
