#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/identification.h"
#include "facebench/metrics/interval.h"
#include "facebench/metrics/tail_bounds.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {

// What the threshold for a FAR gives.
struct ThresholdAtFar {
  TarAtFar at;
  std::int64_t people = 0;  // that it rests on; 0 where that is not known
};

// The identification rate at a rank.
struct RankRate {
  std::int64_t rank = 0;
  std::int64_t mated = 0;           // probes
  std::int64_t gallery_people = 0;  // in the gallery
  std::string ties;                 // rank_ties()
};

// A mean over tracks.
struct TrackMean {
  std::int64_t tracks = 0;
  double sd = 0;                       // of the tracks' values, n - 1
  double standard_error = 0;           // sd / sqrt(tracks)
  std::optional<double> mean_less_sd;  // where the protocol asks for it
};

// The counts behind a number; none behind one of the whole curve or a matrix.
using Counts = std::variant<std::monostate, Accuracy, TarAtFar, ThresholdAtFar, RankRate, DirAtFpir,
                            TrackMean>;

// A matrix of numbers, row-major; one interval a number, or none at all.
struct MatrixValue {
  std::vector<std::string> rows, columns;  // labels
  std::vector<double> values;
  std::vector<Interval> intervals;
};

// One number of a result (or one matrix of them), with the counts behind it.
struct Number {
  std::string name;                  // "accuracy", "tar@far=0.001"
  double value = 0;                  // NaN where it is undefined, and of a matrix
  std::optional<Interval> interval;  // none: not asked for, or nothing to resample
  std::string no_interval;           // why there is none, where one was asked for
  Counts counts;
  // Only the highest scores are kept and the number needs the others: it follows from their
  // histogram, and lies within the bounds, where those are known.
  bool from_histogram = false;
  std::optional<MetricBounds> bounds;
  std::optional<MatrixValue> matrix;
};

}  // namespace facebench
