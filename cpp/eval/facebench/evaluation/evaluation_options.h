#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "facebench/core/options_fwd.h"

// How a protocol is evaluated.
namespace facebench {

struct EvaluationOptions {
  // Unset: the protocol's.
  std::optional<std::string> convention;  // conventions()
  // Rules of single metrics in place of the convention's; see convention_choice.h.
  std::optional<std::string> accuracy_convention;        // accuracy_conventions()
  std::optional<std::string> tar_at_far_convention;      // tar_at_far_conventions()
  std::optional<std::string> identification_convention;  // identification_conventions()
  std::optional<std::string> rank_ties;                  // rank_ties()
  std::optional<std::string> failed_enrolments;          // failure_policies()
  std::optional<std::string> interval;                   // interval_methods()
  std::optional<std::string> fusion;                     // template_fusions()
  std::optional<std::string> match;                      // name_matchings()
  std::int64_t replicates = 1000;
  double level = 0.95;
  std::int64_t seed = 0;
  std::int64_t stored_scores = 100'000'000;
  bool strict = false;
  // Names of the lists without an embedding are counted as failed enrolments; else they are an
  // Error. Not in the manifest: the status of the samples says it.
  bool allow_missing = false;
  // What stands between embeddings and scores (docs/backends.md); not among the options of the
  // manifest, whose `backend` says what was fitted. A chain ("pca=128,plda") or a `.backend` file:
  std::optional<std::string> backend;
  std::filesystem::path train;  // to embeddings of one's own, PERSON/IMAGE; empty: the other folds
  bool allow_overlap = false;   // these may hold people who are tested
  std::optional<std::string> normalise;  // "s-norm:top=200"; see score_normalisation.h
  std::filesystem::path cohort;          // embeddings, as `train`, which it is where it is empty

  bool has_backend() const { return backend || normalise; }
  static void describe(OptionsBuilder<EvaluationOptions>& o);
};

}  // namespace facebench
