#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facebench/trials/trials.h"

namespace facebench {

// Two templates of each group (pose, age) for each subject; the mean similarity of template 1 of
// group i with template 2 of group j is cell (i, j) of a matrix. Scores have the shape (groups,
// subjects, groups, subjects).
class MatrixTrials final : public Trials {
 public:
  std::vector<std::string> groups;          // labels of rows and columns: "frontal", ...
  std::vector<std::int32_t> first, second;  // (subjects, groups), row-major: template 1 and 2

  std::int64_t subjects() const {
    return groups.empty() ? 0 : static_cast<std::int64_t>(first.size() / groups.size());
  }

  std::string_view kind() const override { return "matrix"; }
  void check(const TrialSet& set, const std::string& track) const override;
  std::vector<std::int32_t> units() const override;
  std::vector<std::int64_t> shape() const override;
  std::optional<Comparison> comparison_at(std::int64_t k) const override;
  std::vector<std::pair<std::string, std::int64_t>> counts(const TrialSet& set) const override;
  bool same_as(const Trials& other, std::span<const std::int32_t> unit_of_other) const override;
  Scores score(const UnitEmbeddings& units, const Storage& storage, const Job& job) const override;
  Measurable measurable(const ScoredTrack& scored, const Job& job) const override;
  void write(H5Writer& file, const std::string& group) const override;
};

}  // namespace facebench
