#pragma once

#include <cstdint>
#include <vector>

#include "facebench/trials/trials.h"

namespace facebench {

// A list of comparisons. All vectors have one entry a comparison, in the order of the list; `fold`
// (0-based) is empty where the list has no folds. Scores have the shape (comparisons).
class ListedTrials final : public Trials {
 public:
  std::vector<Comparison> comparisons;
  std::vector<std::uint8_t> genuine;  // 1 genuine, 0 impostor
  std::vector<std::int32_t> fold;

  std::int64_t fold_count() const;  // 0 without folds
  // The comparisons that both have, as their numbers in each; unit u is unit_of_other[u] there, or
  // -1.
  std::vector<std::pair<std::int64_t, std::int64_t>> shared_with(
      const ListedTrials& other, std::span<const std::int32_t> unit_of_other) const;
  // Those comparisons alone, in that order.
  ListedTrials only(std::span<const std::int64_t> numbers) const;

  std::string_view kind() const override { return "listed"; }
  void check(const TrialSet& set, const std::string& track) const override;
  std::vector<std::int32_t> units() const override;
  std::vector<std::int64_t> shape() const override;
  std::optional<Comparison> comparison_at(std::int64_t k) const override;
  bool genuine_at(const TrialSet& set, std::int64_t k) const override;
  std::vector<std::pair<std::string, std::int64_t>> counts(const TrialSet& set) const override;
  bool same_as(const Trials& other, std::span<const std::int32_t> unit_of_other) const override;
  bool verification() const override { return true; }
  const ListedTrials* list() const override { return this; }
  Scores score(const UnitEmbeddings& units, const Storage& storage, const Job& job) const override;
  Measurable measurable(const ScoredTrack& scored, const Job& job) const override;
  void write(H5Writer& file, const std::string& group) const override;
};

}  // namespace facebench
