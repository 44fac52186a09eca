#pragma once

#include <cstdint>
#include <span>

#include "facebench/metrics/roc_curve.h"

namespace facebench {

struct TarAtFar;
struct TarAtFarConvention;

// How often something counts that a bootstrap draws. Weights make a resampled data set without
// copying it: weight 2 is listed twice, weight 0 is left out. No weights = everything once.
using Weight = std::uint32_t;

// The scores of genuine and impostor comparisons, in whatever form they were kept. A rate metric is
// a function of the curve that they give; a bootstrap asks for the curve again under other weights.
// Each class says whether its weights are those of comparisons or of people.
class ScoreSet {
 public:
  virtual ~ScoreSet() = default;
  virtual std::int64_t genuine() const = 0;
  virtual std::int64_t impostor() const = 0;

  // The ROC. It may leave out points that change neither AUC, EER nor the TAR at any FAR (impostor
  // scores between two genuine ones), and it ends where the kept scores do: see
  // RocCurve::complete(). Throws std::invalid_argument for a wrong number of weights.
  virtual RocCurve roc(std::span<const Weight> weights = {}) const = 0;
  // The points of the ROC on both sides of the threshold for a FAR, taken from all distinct scores:
  // the threshold follows from them. If the kept scores do not reach that FAR, the curve ends
  // before it.
  virtual RocCurve roc_near(double /*far*/, std::span<const Weight> weights = {}) const {
    return roc(weights);
  }
  // The points that every rule for a FAR needs: all points around that FAR and at every genuine
  // score. Of the impostor scores between two genuine ones farther away, the highest and the lowest
  // are enough. Throws std::invalid_argument if not all scores were kept.
  virtual RocCurve roc_around(double /*far*/, std::span<const Weight> weights = {}) const {
    return roc(weights);
  }
  // Whether the TAR at that FAR is known.
  virtual bool reaches(double /*far*/) const { return true; }

  // In how many genuine (or impostor) comparisons what each weight is of takes part.
  virtual std::vector<std::int64_t> taking_part(bool genuine) const = 0;
  // The people that take part; 0 where that is not known.
  virtual std::int64_t identities() const { return 0; }
  // The TAR at a FAR by a rule that needs folds (TarAtFarConvention::of_folds), NaN where it is
  // undefined. Throws std::invalid_argument where there are no folds.
  virtual TarAtFar tar_over_folds(const TarAtFarConvention& rule, double far,
                                  std::span<const Weight> weights = {}) const;
};

}  // namespace facebench
