#pragma once

#include <cstdint>
#include <vector>

#include "facebench/trials/trials.h"

namespace facebench {

// Probes are searched in a gallery. A probe whose identity is not in the gallery is non-mated.
// Scores have the shape (probes, gallery).
class IdentificationTrials final : public Trials {
 public:
  std::vector<std::int32_t> gallery, probes;  // units

  std::string_view kind() const override { return "identification"; }
  void check(const TrialSet& set, const std::string& track) const override;
  std::vector<std::int32_t> units() const override;
  std::vector<std::int64_t> shape() const override;
  std::optional<Comparison> comparison_at(std::int64_t k) const override;
  TrialSize size(const TrialSet& set, std::span<const std::uint8_t> left_out = {}) const override;
  std::vector<std::pair<std::string, std::int64_t>> counts(const TrialSet& set) const override;
  bool same_as(const Trials& other, std::span<const std::int32_t> unit_of_other) const override;
  bool single() const override { return true; }
  Storage::What storage_of_many() const override { return Storage::What::outcomes; }
  Scores score(const UnitEmbeddings& units, const Storage& storage, const Job& job) const override;
  Measurable measurable(const ScoredTrack& scored, const Job& job) const override;
  void write(H5Writer& file, const std::string& group) const override;
};

}  // namespace facebench
