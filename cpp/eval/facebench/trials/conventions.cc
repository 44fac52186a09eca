#include "facebench/trials/conventions.h"

namespace facebench {

const Table<Convention>& conventions() {
  static const Table<Convention> table(
      "convention",
      {{"exact", "thresholds between sorted scores, ties grouped, FAR never above the target",
        "exact", "exact", "exact"},
       {"facenet", "facenet's grids on the squared distance, TAR interpolated over nine folds",
        "facenet", "facenet", ""},
       {"insightface", "the grids of insightface's verification script", "insightface",
        "insightface", ""},
       {"facexzoo", "FaceX-Zoo: Youden's index on 1000 steps; nearest FAR", "facexzoo", "ijb", ""},
       {"sphereface", "SphereFace's evaluation.m: accuracy, the training folds' mean subtracted",
        "sphereface", "", ""},
       {"sphereface_pytorch", "sphereface_pytorch's lfw_eval.py: accuracy", "sphereface_pytorch",
        "", ""},
       {"magface",
        "MagFace: accuracy on a grid of angles, the training folds' mean subtracted; nearest FAR",
        "magface", "ijb", ""},
       {"ijb", "IJB scripts: the ROC point nearest to the FAR", "", "ijb", ""},
       {"ijb_1n", "insightface's ijb_1n.py: the impostor score at a rank, accept >", "", "ijb_1n",
        "ijb_1n"},
       {"ijb_evals", "insightface's ijb_evals.py: identification", "", "", "ijb_evals"},
       {"pfe", "PFE: the impostor score at a rounded rank", "", "pfe", ""},
       {"cvlface", "CVLface: insightface's grids; PFE's rule", "insightface", "cvlface", ""},
       {"bob", "bob.measure: far_threshold", "", "bob", ""},
       {"openbr", "OpenBR: linear between points of its ROC", "", "openbr", ""},
       {"fare", "FaRE: linear between the points of the ROC", "", "fare", ""},
       {"insightface_gui", "insightface's GUI: a budget of false accepts", "", "insightface_gui",
        ""}});
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
