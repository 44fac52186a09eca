#include "facebench/protocols/conventions.h"

namespace facebench {

const Table<Convention>& conventions() {
  static const Table<Convention> table(
      "convention",
      {{"exact", "thresholds between sorted scores, ties grouped, FAR never above the target",
        "exact", "exact"},
       {"facenet", "facenet's grids on the squared distance, TAR interpolated over nine folds",
        "facenet", "facenet"},
       {"insightface", "the grids of insightface's verification script", "insightface",
        "insightface"},
       // A project that publishes a rule for one metric only has the default for the other.
       {"facexzoo", "FaceX-Zoo: Youden's index on 1000 steps; nearest FAR", "facexzoo", "ijb"},
       {"sphereface", "SphereFace's evaluation.m; it prints no TAR", "sphereface", "exact"},
       {"sphereface_pytorch", "sphereface_pytorch's lfw_eval.py; it prints no TAR",
        "sphereface_pytorch", "exact"},
       {"magface", "MagFace: a grid of angles; nearest FAR", "magface", "ijb"},
       {"ijb", "IJB scripts: the ROC point nearest to the FAR", "exact", "ijb"},
       {"ijb_1n", "insightface's ijb_1n.py: the impostor score at a rank, accept >", "exact",
        "ijb_1n"},
       {"pfe", "PFE: the impostor score at a rounded rank", "exact", "pfe"},
       {"cvlface", "CVLface: insightface's grids; PFE's rule", "insightface", "cvlface"},
       {"bob", "bob.measure: far_threshold", "exact", "bob"},
       {"openbr", "OpenBR: linear between points of its ROC", "exact", "openbr"},
       {"fare", "FaRE: linear between the points of the ROC", "exact", "fare"},
       {"insightface_gui", "insightface's GUI: a budget of false accepts", "exact",
        "insightface_gui"}});
  return table;
}

const Table<FailurePolicy>& failure_policies() {
  static const Table<FailurePolicy> table(
      "treatment of failed enrolments",
      {{"lowest_score", "a comparison with a failed side gets the lowest score, and counts", false},
       {"drop", "a comparison with a failed side is left out; the number left out is given",
        true}});
  return table;
}

const Table<IntervalMethod>& interval_methods() {
  static const Table<IntervalMethod> table(
      "interval method",
      {{"dyadic",
        "bootstrap of people, corrected for what single pairs of people do; for any comparisons",
        [](const ComparisonGraph&) { return Resampling::dyadic; }},
       {"components",
        "of earlier versions: bootstrap of the connected components within folds; of people where "
        "all are connected. Too short where folds share people, too long for sparse lists without "
        "folds",
        resampling_for, Resampling::vertices, true},
       {"vertex",
        "of earlier versions: bootstrap of people, with replacement. Too long for sparse lists",
        [](const ComparisonGraph&) { return Resampling::vertices; }, Resampling::vertices, true},
       {"none", "no interval"}});
  return table;
}

}  // namespace facebench
