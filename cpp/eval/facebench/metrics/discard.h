#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/metrics/paired.h"
#include "facebench/metrics/reject.h"

namespace facebench {

// Error versus discard: the FNMR that remains when samples of low quality are left out. Sources:
// Grother & Tabassi, "Performance of biometric quality measures", IEEE TPAMI 2007; Schlett et al.,
// "Considerations on the evaluation of biometric quality assessment algorithms", 2023 (partial
// areas, steps).

// Comparisons with the samples behind them. The first four spans have one entry a comparison.
struct SampleComparisons {
  std::span<const double> scores;
  std::span<const std::uint8_t> labels;  // 1 genuine, 0 impostor
  std::span<const std::int32_t> first_sample, second_sample;
  std::span<const std::int32_t> person;  // of each sample
};

struct SampleQuality {
  std::string name;
  std::vector<double> values;  // of each sample, higher = better, finite
};

struct DiscardOptions {
  std::string discard = "comparisons";
  std::string pair_quality = "minimum";
  std::string discard_threshold = "kept";
  std::optional<double> threshold;  // unset: what gives `far`
  double far = 0.001;
  std::vector<double> limits = {0.2, 0.3};
  std::int64_t replicates = 1000;
  double level = 0.95;
  std::int64_t seed = 0;

  static void describe(OptionsBuilder<DiscardOptions>& o);
};

// The partial area under a curve up to a share of discards.
struct DiscardArea {
  double limit = 0;
  double value = 0;   // mean FNMR while up to `limit` is discarded
  Interval interval;  // draws people
  double oracle = 0;  // of the oracle; NaN where there is none
  double gain = 0;    // (random - value) / (random - oracle): 1 is the oracle, 0 is chance
};

struct DiscardMeasure {
  std::string name;
  RejectCurve curve;
  std::vector<DiscardArea> areas;  // in the order of the limits
};

// Area of measure `first` less that of measure `second`; below 0 the first is better.
struct DiscardDifference {
  std::size_t first = 0, second = 0;
  double limit = 0;
  PairedComparison paired;
};

struct DiscardResult {
  double threshold = 0;  // accept score >= threshold, before anything is discarded
  double fnmr = 0;       // there; the curve of random discards stays at it
  std::int64_t genuine = 0, impostor = 0, samples = 0;
  std::vector<DiscardMeasure> measures;
  RejectCurve oracle;                          // empty where the threshold is chosen again
  std::vector<DiscardDifference> differences;  // of every two measures, for each limit
};

// The curves of several qualities on the same comparisons.
//
// What is discarded: "comparisons", whose quality is the minimum (Grother & Tabassi) or the product
// of its samples' qualities, as a share of the genuine ones; or "images", as a share of the samples
// that are compared, a comparison going with either of its samples. What has the same quality goes
// together, and an error holds until more is discarded. The threshold is kept, or is chosen again
// at each step so that what is left has the wanted FAR by the rule "exact"; impostor comparisons
// are then discarded by the same quality.
//
// The oracle discards wrong comparisons first; of images it takes the one with the most wrong
// comparisons first, and among those the one with the fewest right ones, which is the best order
// where no image is in several wrong comparisons. Intervals are of people drawn again (dyadic),
// with a threshold that is kept fixed at its value here.
//
// Throws std::invalid_argument for lengths that disagree, numbers out of range, a quality that is
// not finite (or below 0 for products), no genuine comparison, and products for images.
DiscardResult error_versus_discard(const SampleComparisons& comparisons,
                                   std::span<const SampleQuality> qualities,
                                   const DiscardOptions& options = {}, const Job& job = {});

}  // namespace facebench
