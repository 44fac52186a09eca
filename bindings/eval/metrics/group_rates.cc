#include "facebench/metrics/group_rates.h"

#include "metrics/metrics.h"
#include "tables.h"

namespace facebench {

void bind_group_rates(py::module_& m) {
  bind_options<GroupRatesOptions>(m);
  ResultClass<GroupCell>(m, "GroupCell", "Comparisons of one group with another, or within it.")
      .field("first", &GroupCell::first, "number of a group")
      .field("second", &GroupCell::second, "number of a group, not smaller")
      .field("comparisons", &GroupCell::comparisons, "how many")
      .field("errors", &GroupCell::errors, "of them decided wrongly")
      .field("rate", &GroupCell::rate, "errors over comparisons")
      .field("interval", &GroupCell::interval, "draws people")
      .field("few", &GroupCell::few, "fewer than ten errors are expected");
  ResultClass<GroupMeasureResult>(m, "GroupMeasureResult", "One number for inequality.")
      .field("name", &GroupMeasureResult::name, "see group_measures")
      .field("value", &GroupMeasureResult::value, "NaN where undefined")
      .field("interval", &GroupMeasureResult::interval, "draws people")
      .field("p", &GroupMeasureResult::p, "of the permutation test; NaN where it was not made");
  ResultClass<GroupRates>(m, "GroupRates", "Error rates of groups of people at one threshold.")
      .field("threshold", &GroupRates::threshold, "accept score >= threshold")
      .field("groups", &GroupRates::groups, "their names")
      .field("people", &GroupRates::people, "in each group")
      .field("fmr", &GroupRates::fmr, "over all impostor comparisons")
      .field("fnmr", &GroupRates::fnmr, "over all genuine comparisons")
      .field("fmr_cells", &GroupRates::fmr_cells, "of pairs of groups")
      .field("fnmr_cells", &GroupRates::fnmr_cells, "of pairs of groups")
      .field("measures", &GroupRates::measures, "in the order of group_measures");
  m.def(
      "group_measures",
      [] { return table_list(group_measures(), "source", &GroupMeasure::source); },
      "Every measure of inequality: name, doc, source.\n\n"
      ">>> from facebench.metrics import group_measures\n"
      ">>> [m['name'] for m in group_measures()][:2]\n"
      "['fmr_ratio', 'fnmr_ratio']");
  m.def(
      "group_rates",
      [](const py::object& scores, const py::object& labels, const py::object& first_person,
         const py::object& second_person, const py::object& first_group,
         const py::object& second_group, const std::vector<std::string>& groups, double threshold,
         std::int32_t unknown, const GroupRatesOptions& options, int threads,
         const py::object& progress) {
        const auto s = numbers(scores, "scores");
        const auto l = whole_numbers<std::uint8_t>(labels, "labels");
        const auto p1 = whole_numbers<std::int32_t>(first_person, "first_person");
        const auto p2 = whole_numbers<std::int32_t>(second_person, "second_person");
        const auto g1 = whole_numbers<std::int32_t>(first_group, "first_group");
        const auto g2 = whole_numbers<std::int32_t>(second_group, "second_group");
        return with_job(threads, progress, [&](const Job& job) {
          return group_rates({s, l, p1, p2, g1, g2, groups, unknown}, threshold, options, job);
        });
      },
      py::arg("scores"), py::arg("labels"), py::arg("first_person"), py::arg("second_person"),
      py::arg("first_group"), py::arg("second_group"), py::arg("groups"), py::arg("threshold"),
      py::kw_only(), py::arg("unknown") = -1, py::arg("options") = GroupRatesOptions{},
      py::arg("threads") = 0, py::arg("progress") = py::none(),
      "FMR of every pair of groups and FNMR of every group at one threshold, with intervals.\n\n"
      "scores, labels: of the comparisons. first_person, ..., second_group: numbers of both "
      "sides'\n"
      "people and groups, from 0. groups: the groups' names; unknown: the number of the group "
      "whose\n"
      "members are not known, which the measures of inequality leave out.\n\n"
      ">>> from facebench.metrics import group_rates\n"
      ">>> r = group_rates([.9, .4, .6, .1], [1, 1, 0, 0], [0, 2, 0, 2], [0, 2, 1, 3],\n"
      "...                 [0, 1, 0, 1], [0, 1, 0, 1], ['a', 'b'], 0.5)\n"
      ">>> [(c.errors, c.comparisons) for c in r.fmr_cells]\n"
      "[(1, 1), (0, 1)]");
}

}  // namespace facebench
