#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace facebench {

// The receiver operating characteristic as exact counts. Rule: accept where score >= threshold.
// One point for each distinct score (ties cannot be told apart by any threshold, so they move
// together), in descending order of threshold, after a first point at which nothing is accepted
// (threshold +infinity). The last point accepts everything. Nothing is dropped or interpolated.
struct RocCurve {
  std::vector<double> threshold;
  std::vector<std::int64_t> true_accepts;   // genuine comparisons accepted
  std::vector<std::int64_t> false_accepts;  // impostor comparisons accepted
  std::int64_t genuine = 0;
  std::int64_t impostor = 0;

  std::size_t size() const { return threshold.size(); }
  // Whether the last point accepts everything. A curve of scores of which only the highest were
  // kept ends before that.
  bool complete() const;
  // Rates at each point, in [0, 1]; NaN where the class is empty. fnr with fpr are the points of
  // the detection error trade-off (DET) curve; tpr = TAR = GAR, fpr = FAR = FMR, fnr = FRR = FNMR.
  std::vector<double> tpr() const;
  std::vector<double> fpr() const;
  std::vector<double> fnr() const;
};

}  // namespace facebench
