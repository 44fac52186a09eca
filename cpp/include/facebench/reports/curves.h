#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "facebench/metrics/roc.h"
#include "facebench/metrics/summary.h"
#include "facebench/protocols/run_folder.h"

namespace facebench {

// A ROC curve for a plot: at most `count` of its points, ends included, spread evenly over
// log10(FAR) and over TAR. Every point is one of the exact curve.
struct RocPoint {
  double far = 0;
  double tar = 0;
};
std::vector<RocPoint> roc_points(std::span<const double> scores,
                                 std::span<const std::uint8_t> labels, std::size_t count = 500);

// The same out of a curve of which only the points at genuine scores are at hand
// (DenseComparisons::curve), or all.
std::vector<RocPoint> roc_points(const RocCurve& curve, std::size_t count = 500);

// The interval of the TAR at one FAR, the threshold chosen again in each draw.
struct BandPoint {
  double far = 0;
  double low = 0;
  double high = 0;
};
// Intervals along the ROC of a track: eight FARs a decade, down to that of one false accept, from
// `draws` draws of what the track's intervals draw, at their level. Pointwise: all together hold
// less often than each. Points whose interval is undefined are left out; empty for a track without
// a ROC and for options without intervals.
std::vector<BandPoint> roc_band(const ScoredTrials& trials, std::size_t track, std::int64_t draws,
                                const Job& job = {});

// A point of open-set identification at rank 1, chosen likewise.
struct IdentificationPoint {
  double fpir = 0;
  double dir = 0;
};

// What is plotted of a track; what its kind does not have is empty.
struct TrackCurves {
  std::string track;
  std::vector<RocPoint> roc;             // lists and dense tracks; also the DET: (FAR, 1 - TAR)
  std::vector<BandPoint> band;           // of the ROC, where asked for
  ScoreHistogram scores;                 // lists, dense tracks and matrices
  std::vector<double> cmc;               // identification: rates by rank, `count` ranks at most
  std::vector<IdentificationPoint> dir;  // identification with mated and non-mated probes
};
// Out of scores.h5; comparisons that the run dropped are not in it. `band_draws`: replicates of the
// bands, 0 for none; a run without intervals has none.
std::vector<TrackCurves> track_curves(const RunScores& scores, std::size_t count = 500,
                                      int bins = 60, std::int64_t band_draws = 0,
                                      const Job& job = {});

}  // namespace facebench
