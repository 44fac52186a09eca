#pragma once

#include <cstdint>
#include <vector>

#include "facebench/trials/trials.h"

namespace facebench {

// Every row unit with every column unit. Scores have the shape (rows, columns).
class DenseTrials final : public Trials {
 public:
  enum Mask : std::uint8_t { not_compared = 0, is_genuine = 1, is_impostor = 2 };
  std::vector<std::int32_t> rows, columns;  // units
  // rows == columns: each unordered pair once (column after row), nothing with itself.
  bool triangle = false;
  std::vector<std::uint8_t> mask;  // (rows, columns) of Mask; empty = by identity

  std::string_view kind() const override { return "dense"; }
  void check(const TrialSet& set, const std::string& track) const override;
  std::vector<std::int32_t> units() const override;
  std::vector<std::int64_t> shape() const override;
  std::optional<Comparison> comparison_at(std::int64_t k) const override;
  bool genuine_at(const TrialSet& set, std::int64_t k) const override;
  TrialSize size(const TrialSet& set, std::span<const std::uint8_t> left_out = {}) const override;
  std::vector<std::pair<std::string, std::int64_t>> counts(const TrialSet& set) const override;
  bool same_as(const Trials& other, std::span<const std::int32_t> unit_of_other) const override;
  bool verification() const override { return true; }
  bool single() const override { return true; }
  // The genuine and the highest impostor scores; with a mask each has its place, and all are kept.
  Storage::What storage_of_many() const override;
  Scores score(const UnitEmbeddings& units, const Storage& storage, const Job& job) const override;
  Measurable measurable(const ScoredTrack& scored, const Job& job) const override;
  void write(H5Writer& file, const std::string& group) const override;
};

}  // namespace facebench
