#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/registry.h"
#include "facebench/io/embeddings.h"
#include "facebench/trials/trials.h"

namespace facebench {

// How the names in a list find the names of embeddings: "exact", "stem" (file name without folder
// and last extension), "suffix" or "path_stem" (the path without its last extension). All compare
// names in the form NFC, and '\\' in the name of an embedding, which no list has, as '/'.
struct NameMatching {
  std::string name;
  std::string doc;
};
const Table<NameMatching>& name_matchings();

// For each of `listed` the index in `known`, or -1 where it has none. Throws Error for an ambiguous
// name (two of `known` match one of `listed`, or two of `listed` have the same stem), and where not
// a single one is found.
std::vector<std::int64_t> match_names(std::span<const std::string> listed,
                                      std::span<const std::string> known,
                                      std::string_view matching);

// Why names of the list are not among the known ones, and what to do: another way of matching under
// which they are, other capitals, folders in front.
std::string missing_names_advice(std::span<const std::string> listed,
                                 std::span<const std::string> known, std::string_view matching);

// The status of each unit: without templates that of the sample. A template is ok if any of its
// samples is; otherwise it has the status of its first sample.
std::vector<SampleStatus> unit_status(const TrialSet& trials,
                                      std::span<const SampleStatus> sample_status);

// Per unit 1 where it could not be enrolled; empty where all were.
std::vector<std::uint8_t> failed_units(std::span<const SampleStatus> unit_status);

// One vector per unit: the sample's embedding, or the fused ones of the template, of unit length
// and rounded to float32 as any embedding is.
struct UnitEmbeddings {
  std::int64_t dim = 0;
  std::vector<float> values;         // (units, dim), row-major; zeros where the status is not ok
  std::vector<SampleStatus> status;  // per unit
  std::vector<SampleStatus> sample_status;  // per sample; `missing` without an embedding
  std::vector<std::int32_t> absent;         // samples without a row
  std::vector<std::int32_t> identity;       // per unit

  std::size_t size() const { return status.size(); }
  std::span<const float> row(std::int32_t unit) const {
    return std::span(values).subspan(static_cast<std::size_t>(unit) * static_cast<std::size_t>(dim),
                                     static_cast<std::size_t>(dim));
  }
  bool failed(std::int32_t unit) const {
    return status[static_cast<std::size_t>(unit)] != SampleStatus::ok;
  }
};

// `matching` is one of name_matchings(), `fusion` one of template_fusions(), ignored without
// templates; samples that were not enrolled are left out of a template. Throws Error as
// match_names() does, for a fusion by detector scores where the lists give none, and for an
// embedding of status ok that holds a value that is not finite, or that is zero, and so has no
// direction.
UnitEmbeddings unit_embeddings(const TrialSet& trials, const EmbeddingSet& embeddings,
                               std::string_view matching, std::string_view fusion,
                               const Job& job = {});

// The score of a comparison with a failed side: -1, the lowest cosine, or the lowest of `scores`
// (those of the comparisons that did not fail, all finite) where that is lower still.
double failed_score(std::span<const double> scores);

}  // namespace facebench
