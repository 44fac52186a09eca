#pragma once

#include <span>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/protocols/evaluate.h"
#include "facebench/protocols/measurable.h"

// The numbers of one track.
namespace facebench {

// Who is compared, and who of them could not be enrolled.
void count_units(const TrialSet& trials, std::span<const SampleStatus> sample_status,
                 std::span<const SampleStatus> unit_status, const Track& track, TrackResult& r);
// `failed_units` as failed_units() gives them.
void count_comparisons(const Trials& trials, const TrialSet& set,
                       std::span<const std::uint8_t> failed_units, bool drop, TrackResult& r);

// The cells of the metrics that the data can be measured by. What the metrics refuse becomes an
// Error that names the track.
std::vector<MetricCell> measure_cells(const ProtocolSpec& spec, const EvaluationOptions& options,
                                      const ScoredTrials& scored, const Measurable& measurable,
                                      const Job& job);

}  // namespace facebench
