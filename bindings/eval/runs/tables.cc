#include "tables.h"

#include "common.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/evaluation/metric.h"
#include "facebench/evaluation/spec.h"
#include "facebench/metrics/template_fusion.h"
#include "facebench/runs/score_files.h"
#include "modules.h"

namespace facebench {

void bind_protocol_tables(py::module_& m) {
  m.def(
      "list_conventions",
      [] {
        return table_list(conventions(), "accuracy", &Convention::accuracy, "tar_at_far",
                          &Convention::tar_at_far, "identification", &Convention::identification);
      },
      R"(The named ways of computing published numbers: name, one line, and the rule of each metric.

``accuracy``, ``tar_at_far``, ``identification``: a name in the table of that metric (see
`facebench.metrics.accuracy_conventions` and its like), "" where there is no rule; a protocol
computes that metric exactly then, unless it gets a rule of its own (``accuracy_convention``,
``tar_at_far_convention``, ``identification_convention``).

>>> from facebench.protocols import list_conventions
>>> next(c for c in list_conventions() if c["name"] == "ijb_1n")["identification"]
'ijb_1n'
)");
  m.def(
      "failure_policies", [] { return table_list(failure_policies()); },
      R"(What becomes of a comparison with a failed enrolment: name and one line.

>>> from facebench.protocols import failure_policies
>>> "lowest_score" in [p["name"] for p in failure_policies()]
True
)");
  m.def(
      "interval_methods", [] { return table_list(interval_methods()); },
      R"(How the interval of a number is found: name and one line.

>>> from facebench.protocols import interval_methods
>>> "dyadic" in [m["name"] for m in interval_methods()]
True
)");
  m.def(
      "score_forms",
      [] {
        return table_list(score_forms(), "source", &ScoreForm::source, "files", &ScoreForm::files);
      },
      R"(The forms of score files that say themselves which scores are genuine: name, one line, how
many files, and whose they are. `evaluate` reads them.

>>> from facebench.protocols import score_forms
>>> [form["name"] for form in score_forms() if form["files"] == 2]
['genuine_impostor', 'labelled_vectors', 'bee']
)");
  m.def("trial_kinds", [] { return table_list(trial_kinds()); });
  m.def(
      "template_fusions",
      [] { return table_list(template_fusions(), "source", &TemplateFusion::source); },
      R"(The ways in which the samples of a template become one embedding: name, one line and source.

>>> from facebench.protocols import template_fusions
>>> "mean_raw" in [f["name"] for f in template_fusions()]
True
)");
  m.def(
      "ijb_scripts",
      [] { return table_list(ijb_scripts(), "n1_keeps_norms", &IjbScript::n1_keeps_norms); },
      "The scripts for IJB-B and IJB-C that print labels such as N1D1F1, and what their N1 means.");
  m.def(
      "ijb_label",
      [](const std::string& label, const std::string& script) {
        return dict_of(ijb_label(label, script), "fusion", &IjbLabel::fusion, "flip",
                       &IjbLabel::flip);
      },
      py::arg("label"), py::arg("script"),
      R"(What a label such as N1D1F1 means in a script: ``fusion`` and ``flip``.

The letter N means the opposite in two families of scripts.

>>> from facebench.protocols import ijb_label
>>> ijb_label("N1D1F1", "eval_ijbc") == ijb_label("N0D1F1", "ijb_evals")
True
)");
  m.def("trial_readers", [] { return table_list(trial_readers()); });
  m.def(
      "blemish_rules", [] { return table_list(blemish_rules(), "rule", &BlemishRule::rule); },
      R"(What lists may have wrong and are evaluated all the same: name, what it is, and the rule.

>>> from facebench.protocols import blemish_rules
>>> [r["rule"] for r in blemish_rules() if r["name"] == "repeated_pair"]
['every row counts']
)");
  m.def("expected_count_names", [] { return table_list(expected_count_names()); });
  m.def(
      "protocol_metrics",
      [] {
        return table_list(protocol_metrics(), "applies_to", &Metric::applies_to,
                          "targets_are_ranks", &Metric::targets_are_ranks, "lower_is_better",
                          &Metric::lower_is_better);
      },
      R"(What a protocol can ask for: name, one line, and what it applies to.

>>> from facebench.protocols import protocol_metrics
>>> "eer" in [m["name"] for m in protocol_metrics()]
True
)");
}

}  // namespace facebench
