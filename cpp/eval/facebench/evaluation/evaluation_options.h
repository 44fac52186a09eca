#pragma once

#include <cstdint>
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
  static void describe(OptionsBuilder<EvaluationOptions>& o);
};

}  // namespace facebench
