#pragma once

#include <span>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/evaluation/curves.h"
#include "facebench/evaluation/result.h"
#include "facebench/trials/measurable.h"

// The numbers of one track.
namespace facebench {

// Who is compared, and who of them could not be enrolled.
void count_units(const TrialSet& trials, std::span<const SampleStatus> sample_status,
                 std::span<const SampleStatus> unit_status, const Track& track, TrackResult& r);
// `failed_units` as failed_units() gives them.
void count_comparisons(const Trials& trials, const TrialSet& set,
                       std::span<const std::uint8_t> failed_units, bool drop, TrackResult& r);

// What the interval of a number was made of.
struct NumberDraws {
  std::string number;
  Statistic statistic;    // without its functions
  Replicates replicates;  // of it alone
};

struct MeasuredNumbers {
  std::vector<Number> numbers;
  std::vector<NumberDraws> draws;  // of those that have one interval
  std::vector<BandPoint> band;     // of the ROC, where asked for; ascending FARs
};

// The numbers of the metrics that the data can be measured by, and the band, all from one
// bootstrap. What the metrics refuse becomes an Error that names the track.
MeasuredNumbers measure_numbers(const ProtocolSpec& spec, const EvaluationOptions& options,
                                const ScoredTrack& scored, const Measurable& measurable,
                                bool with_band, const Job& job);

// Mean and standard deviation over tracks of every number that all of them have, with the interval
// of the mean where the tracks' draws are of the same people (`draws` per track). `less_sd`: the
// mean less one standard deviation too.
TrackResult mean_over_tracks(std::span<const TrackResult> tracks,
                             std::span<const std::vector<NumberDraws>> draws,
                             const EvaluationOptions& options, bool less_sd);

// Ends the intervals of numbers in the unit of the scores at -1 and 1.
void keep_to_cosines(std::span<TrackResult> tracks);

}  // namespace facebench
