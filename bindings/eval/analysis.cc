#include <pybind11/functional.h>

#include <algorithm>

#include "common.h"
#include "facebench/analysis/explain.h"
#include "facebench/analysis/group_report.h"
#include "facebench/analysis/run_ranking.h"
#include "facebench/core/natural_order.h"
#include "facebench/evaluation/convention_choice.h"
#include "facebench/evaluation/curves.h"
#include "facebench/evaluation/metric.h"
#include "facebench/runs/save.h"
#include "facebench/runs/table.h"
#include "facebench/runs/verify.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

py::list checks_of(const std::vector<Check>& checks) {
  return dicts_of(checks, "name", &Check::name, "same", &Check::outcome, "detail", &Check::detail);
}

// Without `check`: of a folder just written.
Run run_in(const fs::path& folder, bool check) {
  return check ? read_run(folder) : read_changed_run(folder);
}

std::vector<Run> read_runs(const std::vector<fs::path>& folders, bool check = true) {
  std::vector<Run> runs;
  for (const fs::path& f : folders) runs.push_back(run_in(f, check));
  return runs;
}

// An array for each member of the points.
template <class Point, class... Members>
py::tuple columns_of(const std::vector<Point>& points, Members... members) {
  const auto column = [&](double Point::*member) {
    std::vector<double> values;
    for (const Point& p : points) values.push_back(p.*member);
    return to_numpy(std::move(values));
  };
  return py::make_tuple(column(members)...);
}

py::tuple far_and_tar(const std::vector<RocPoint>& points) {
  return columns_of(points, &RocPoint::far, &RocPoint::tar);
}

// A track's curves as arrays; what the track does not have is absent.
py::dict curves_to_python(const TrackCurves& c) {
  py::dict d;
  if (!c.roc.empty()) d["roc"] = far_and_tar(c.roc);
  if (!c.band.empty())
    d["band"] = columns_of(c.band, &BandPoint::far, &BandPoint::low, &BandPoint::high);
  if (!c.cmc.empty()) d["cmc"] = c.cmc;
  if (!c.dir.empty())
    d["dir"] = columns_of(c.dir, &IdentificationPoint::fpir, &IdentificationPoint::dir);
  if (!c.scores.edges.empty())
    d["scores"] = py::make_tuple(c.scores.edges, c.scores.genuine, c.scores.impostor);
  return d;
}

void bind_saved_runs(py::module_& m) {
  m.def(
      "explain",
      [](const fs::path& a, const fs::path& b, const BootstrapOptions& options, int threads,
         const py::object& progress) {
        return json_to_python(explanation_json(with_job(
            threads, progress, [&](const Job& job) { return explain(a, b, options, job); })));
      },
      py::arg("a"), py::arg("b"), py::arg("options"), py::arg("threads"), py::arg("progress"));
  m.def("difference_kinds", [] { return table_docs(difference_kinds()); });
  m.def(
      "why_not_comparable",
      [](const fs::path& a, const fs::path& b) {
        return dicts_of(why_not_comparable(a, b), "kind", &Difference::kind, "what",
                        &Difference::what, "a", &Difference::a, "b", &Difference::b);
      },
      py::arg("a"), py::arg("b"),
      R"(Why two run folders must not stand in one table: a list of dicts, empty where they may.

Each has ``kind``, ``what``, and what either run recorded (``a``, ``b``). What they compare, the
photographs, the rules of the numbers and the protocol's version have to be the same; detector,
crop and model need not.
)");
  m.def(
      "rank_runs",
      [](const std::vector<fs::path>& runs, const std::string& track, const std::string& metric,
         const BootstrapOptions& options, int threads, const py::object& progress) {
        return json_to_python(run_ranking_json(with_job(threads, progress, [&](const Job& job) {
          return rank_runs(runs, track, metric, options, job);
        })));
      },
      py::arg("runs"), py::arg("track"), py::arg("metric"), py::arg("options"), py::arg("threads"),
      py::arg("progress"));
  m.def(
      "holm_adjusted", [](const std::vector<double>& p_values) { return holm_adjusted(p_values); },
      py::arg("p_values"));
  m.def(
      "group_report",
      [](const fs::path& run, const fs::path& attributes, const GroupReportOptions& options,
         const GroupRatesOptions& rates, const fs::path& other, int threads,
         const py::object& progress) {
        return json_to_python(group_report_json(with_job(threads, progress, [&](const Job& job) {
          return group_report(run, attributes, options, rates, other, job);
        })));
      },
      py::arg("run"), py::arg("attributes"), py::arg("options"), py::arg("rates"), py::arg("other"),
      py::arg("threads"), py::arg("progress"));
  m.def(
      "read_run",
      [](const fs::path& run_folder, bool check) {
        const Run run = run_in(run_folder, check);
        py::dict d;
        d["content"] = json_to_python(run.manifest.content);
        d["circumstance"] = json_to_python(run.manifest.circumstance);
        d["metrics"] = json_to_python(run.metrics);
        return d;
      },
      py::arg("run"), py::arg("check") = true,
      R"(A run folder as a dict: ``content``, ``circumstance`` (the manifest) and ``metrics``.

``check``: whether the files are compared with their hashes, which reads all of them.
)");
  m.def(
      "save_run",
      [](const Result& result, const fs::path& target, bool overwrite, const std::string& command,
         const fs::path& root, int threads, const std::function<void(fs::path)>& pages,
         const py::dict& content) {
        RunInfo info;
        info.content = json_from_python(content);
        info.command = command;
        info.root = root;
        info.threads = threads;
        const WithoutGil without_gil;
        save_run(target, result, info, overwrite, pages);
      },
      py::arg("result"), py::arg("target"), py::arg("overwrite"), py::arg("command"),
      py::arg("root"), py::arg("threads"), py::arg("pages"), py::arg("content"));
  m.def("refuse_taken", &refuse_taken, py::arg("out"), py::arg("overwrite"));
  m.def(
      "verify_scores",
      [](const fs::path& run, int threads, const py::object& progress) {
        return checks_of(
            with_job(threads, progress, [&](const Job& job) { return verify_scores(run, job); }));
      },
      py::arg("run"), py::arg("threads") = 0, py::arg("progress") = py::none(),
      R"(Hashes of the run's files, and ``metrics.json`` and ``curves.json`` computed again from
``scores.h5``.

A list of ``{"name", "same", "detail"}``.
)");
  m.def(
      "verify_inputs",
      [](const fs::path& run, const fs::path& root, const py::object& progress) {
        return checks_of(
            with_job(1, progress, [&](const Job& job) { return verify_inputs(run, root, job); }));
      },
      py::arg("run"), py::arg("root"), py::arg("progress"));
}

void bind_run_tables(py::module_& m) {
  m.def(
      "run_titles",
      [](const std::vector<fs::path>& folders) { return run_titles(read_runs(folders)); },
      py::arg("runs"));
  m.def(
      "report_table",
      [](const std::vector<fs::path>& folders, const std::vector<std::string>& titles, bool check) {
        const ReportTable table = make_table(read_runs(folders, check), titles);
        auto d = json_to_python(table_json(table)).cast<py::dict>();
        d["text"] = table_text(table);
        return d;
      },
      py::arg("runs"), py::arg("titles"), py::arg("check") = true);
}

void bind_run_texts(py::module_& m) {
  m.def(
      "run_curves",
      [](const fs::path& folder, bool check, int threads) {
        const std::vector<TrackCurves> curves = with_job(threads, py::none(), [&](const Job& job) {
          return read_curves(run_in(folder, check), job);
        });
        py::dict result;
        for (const TrackCurves& c : curves) result[py::str(c.track)] = curves_to_python(c);
        return result;
      },
      py::arg("run"), py::arg("check") = true, py::arg("threads") = 0);
  m.def(
      "curves_of",
      [](const Result& r, std::size_t track) { return curves_to_python(r.curves.at(track)); },
      py::arg("result"), py::arg("track"));
  m.def(
      "roc_points",
      [](const std::vector<double>& scores, const std::vector<std::uint8_t>& labels,
         std::size_t count) { return far_and_tar(roc_points(scores, labels, count)); },
      py::arg("scores"), py::arg("labels"), py::arg("count"));
  m.def(
      "pretty_json", [](const py::object& value) { return pretty_json(json_from_python(value)); },
      py::arg("value"));
  m.def("metric_title", &metric_title, py::arg("name"));
  m.def(
      "sorted_metrics",
      [](std::vector<std::string> names) {
        std::ranges::stable_sort(names, metric_before);
        return names;
      },
      py::arg("names"));
  m.def(
      "sorted_names",
      [](std::vector<std::string> names) {
        std::ranges::stable_sort(names, natural_less);
        return names;
      },
      py::arg("names"));
  m.def(
      "convention_text",
      [](const py::dict& options) { return convention_text(json_from_python(options)); },
      py::arg("options"));
  m.def("metric_is_rate", &metric_is_rate, py::arg("name"));
  m.def("metric_text", &metric_text, py::arg("name"), py::arg("value"));
}

}  // namespace

void bind_analysis(py::module_& m) {
  bind_options<GroupReportOptions>(m);
  bind_saved_runs(m);
  bind_quality_report(m);
  bind_operating_points(m);
  bind_inspection(m);
  bind_run_judgements(m);
  bind_run_tables(m);
  bind_run_texts(m);
}

}  // namespace facebench
