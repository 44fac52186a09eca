#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/io/json.h"
#include "facebench/metrics/summary.h"
#include "facebench/trials/measurable.h"

namespace facebench {

struct RocCurve;

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

// The interval of the TAR at one FAR, the threshold chosen again in each draw. Pointwise: all
// together hold less often than each.
struct BandPoint {
  double far = 0;
  double low = 0;
  double high = 0;
};
// The FARs of a band: eight a decade from 1 down to that of one false accept, as far as the scores
// reach.
std::vector<double> band_fars(const ScoreSet& scores);

// A point of open-set identification at rank 1, chosen as those of a ROC.
struct IdentificationPoint {
  double fpir = 0;
  double dir = 0;
};

// What is plotted of a track; what its kind does not have is empty.
struct TrackCurves {
  std::string track;
  std::vector<RocPoint> roc;             // lists and dense tracks; also the DET: (FAR, 1 - TAR)
  std::vector<BandPoint> band;           // of the ROC, from the draws of the track's intervals
  ScoreHistogram scores;                 // lists, dense tracks and matrices
  std::vector<double> cmc;               // identification: rates by rank
  std::vector<IdentificationPoint> dir;  // identification with mated and non-mated probes
};
// All but the band. Comparisons that are left out are not in it. `ties` is one of rank_ties().
TrackCurves curves_of(const Track& track, const ScoredTrack& scored, const Measurable& measurable,
                      const std::string& ties);

// The content of curves.json: {"format": 1, "tracks": [{"track", "roc": {"far", "tar"}, "band":
// {"far", "low", "high"}, "scores": {"edges", "genuine", "impostor"}, "cmc", "dir": {"fpir",
// "dir"}}]}, without what is empty. Reading throws Error that names `where` for anything else.
Json curves_json(std::span<const TrackCurves> curves);
std::vector<TrackCurves> curves_from_json(const Json& json, std::string_view where);

}  // namespace facebench
