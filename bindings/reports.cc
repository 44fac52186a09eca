#include <algorithm>

#include "common.h"
#include "facebench/core/natural_order.h"
#include "facebench/protocols/convention_choice.h"
#include "facebench/protocols/metric.h"
#include "facebench/reports/against.h"
#include "facebench/reports/claim.h"
#include "facebench/reports/curves.h"
#include "facebench/reports/escape.h"
#include "facebench/reports/explanation_text.h"
#include "facebench/reports/formats.h"
#include "facebench/reports/group_report.h"
#include "facebench/reports/run_ranking.h"
#include "facebench/reports/run_report.h"
#include "facebench/reports/save.h"
#include "facebench/reports/table.h"
#include "facebench/reports/verify.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

py::list checks_of(const std::vector<Check>& checks) {
  return dicts_of(checks, "name", &Check::name, "same", &Check::same, "detail", &Check::detail);
}

std::vector<Run> read_runs(const std::vector<fs::path>& folders) {
  std::vector<Run> runs;
  for (const fs::path& f : folders) runs.push_back(read_run(f));
  return runs;
}

py::tuple far_and_tar(const std::vector<RocPoint>& points) {
  std::vector<double> far, tar;
  for (const RocPoint& p : points) {
    far.push_back(p.far);
    tar.push_back(p.tar);
  }
  return py::make_tuple(to_numpy(std::move(far)), to_numpy(std::move(tar)));
}

py::tuple far_low_high(const std::vector<BandPoint>& points) {
  std::vector<double> far, low, high;
  for (const BandPoint& p : points) {
    far.push_back(p.far);
    low.push_back(p.low);
    high.push_back(p.high);
  }
  return py::make_tuple(to_numpy(std::move(far)), to_numpy(std::move(low)),
                        to_numpy(std::move(high)));
}

void bind_runs(py::module_& m) {
  m.def(
      "check_claim",
      [](const std::string& printed, const ProtocolSpec* protocol, const ClaimOptions& options,
         const std::string& against) {
        const Claim claim = check_claim(printed, protocol, options, against);
        return py::make_tuple(claim_text(claim), json_to_python(claim_json(claim)));
      },
      py::arg("printed"), py::arg("protocol"), py::arg("options"), py::arg("against"));
  m.def(
      "explain",
      [](const fs::path& a, const fs::path& b, const BootstrapOptions& options, int threads,
         const py::object& progress) {
        const Explanation e = with_job(threads, progress,
                                       [&](const Job& job) { return explain(a, b, options, job); });
        return py::make_tuple(explanation_text(e), json_to_python(explanation_json(e)));
      },
      py::arg("a"), py::arg("b"), py::arg("options"), py::arg("threads"), py::arg("progress"));
  m.def(
      "why_not_comparable",
      [](const fs::path& a, const fs::path& b) {
        return dicts_of(why_not_comparable(a, b), "kind", &Difference::kind, "what",
                        &Difference::what, "a", &Difference::a, "b", &Difference::b);
      },
      py::arg("a"), py::arg("b"));
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
        const GroupReport r = with_job(threads, progress, [&](const Job& job) {
          return group_report(run, attributes, options, rates, other, job);
        });
        return py::make_tuple(group_report_text(r), json_to_python(group_report_json(r)));
      },
      py::arg("run"), py::arg("attributes"), py::arg("options"), py::arg("rates"), py::arg("other"),
      py::arg("threads"), py::arg("progress"));
  m.def(
      "read_run",
      [](const fs::path& folder) {
        const Run run = read_run(folder);
        py::dict d;
        d["content"] = json_to_python(run.manifest.content);
        d["circumstance"] = json_to_python(run.manifest.circumstance);
        d["metrics"] = json_to_python(run.metrics);
        return d;
      },
      py::arg("folder"));
  m.def(
      "save_run",
      [](const Result& result, const fs::path& target, bool overwrite, const std::string& command,
         const fs::path& root, int threads, const py::object& more) {
        RunInfo info;
        info.command = command;
        info.root = root;
        info.threads = threads;
        py::gil_scoped_release release;
        save_run(target, result, info, overwrite, [&](const fs::path& folder) {
          py::gil_scoped_acquire gil;
          if (!more.is_none()) more(folder);
        });
      },
      py::arg("result"), py::arg("target"), py::arg("overwrite"), py::arg("command"),
      py::arg("root"), py::arg("threads"), py::arg("more"));
  m.def(
      "verify_scores",
      [](const fs::path& run, int threads, const py::object& progress) {
        return checks_of(
            with_job(threads, progress, [&](const Job& job) { return verify_scores(run, job); }));
      },
      py::arg("run"), py::arg("threads"), py::arg("progress"));
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
      [](const std::vector<fs::path>& folders, const std::string& format,
         const std::vector<std::string>& titles) {
        return report_formats().at(format).write(make_table(read_runs(folders), titles));
      },
      py::arg("runs"), py::arg("format"), py::arg("titles"));
  m.def(
      "against",
      [](const std::vector<fs::path>& folders, const std::string& publication,
         const std::map<std::string, std::string>& stated, const std::string& format,
         const std::vector<std::string>& titles, std::size_t listed) {
        const AgainstFormat& writer = against_formats().at(format);
        Against against = compare_with_published(
            read_runs(folders), std::make_shared<const Publication>(load_publication(publication)),
            Conditions(stated.begin(), stated.end()), titles);
        against.listed = listed;
        return writer.write(against);
      },
      py::arg("runs"), py::arg("publication"), py::arg("stated"), py::arg("format"),
      py::arg("titles"), py::arg("listed"));
}

void bind_run_texts(py::module_& m) {
  m.def(
      "run_report", [](const fs::path& folder) { return run_report(read_run(folder)); },
      py::arg("run"));
  m.def(
      "run_curves",
      [](const fs::path& folder, std::size_t count, int bins, std::int64_t band_draws,
         int threads) {
        const std::vector<TrackCurves> curves = with_job(threads, py::none(), [&](const Job& job) {
          return track_curves(read_scores(read_run(folder).folder / "scores.h5"), count, bins,
                              band_draws, job);
        });
        py::dict result;
        for (const TrackCurves& c : curves) {
          py::dict d;
          if (!c.roc.empty()) d["roc"] = far_and_tar(c.roc);
          if (!c.band.empty()) d["band"] = far_low_high(c.band);
          if (!c.cmc.empty()) d["cmc"] = c.cmc;
          if (!c.dir.empty()) {
            std::vector<double> fpir, dir;
            for (const IdentificationPoint& p : c.dir) {
              fpir.push_back(p.fpir);
              dir.push_back(p.dir);
            }
            d["dir"] = py::make_tuple(to_numpy(std::move(fpir)), to_numpy(std::move(dir)));
          }
          if (!c.scores.edges.empty())
            d["scores"] = py::make_tuple(c.scores.edges, c.scores.genuine, c.scores.impostor);
          result[py::str(c.track)] = d;
        }
        return result;
      },
      py::arg("run"), py::arg("count"), py::arg("bins"), py::arg("band_draws"),
      py::arg("threads") = 0);
  m.def(
      "roc_band",
      [](const Result& r, std::size_t track, std::int64_t draws, int threads) {
        return far_low_high(with_job(
            threads, py::none(), [&](const Job& job) { return roc_band(r, track, draws, job); }));
      },
      py::arg("result"), py::arg("track"), py::arg("draws"), py::arg("threads") = 0);
  m.def(
      "roc_points",
      [](const std::vector<double>& scores, const std::vector<std::uint8_t>& labels,
         std::size_t count) { return far_and_tar(roc_points(scores, labels, count)); },
      py::arg("scores"), py::arg("labels"), py::arg("count"));
  m.def("escape_markdown", &escape_markdown, py::arg("text"));
  m.def("escape_latex", &escape_latex, py::arg("text"));
  m.def("spreadsheet_record", &spreadsheet_record, py::arg("fields"));
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
      "unreliable_note",
      [](const std::vector<std::string>& rates) { return unreliable_note(rates); },
      py::arg("rates"));
  m.def(
      "convention_text",
      [](const py::dict& options) { return convention_text(json_from_python(options)); },
      py::arg("options"));
  m.def(
      "metric_is_rate",
      [](const std::string& name) {
        const Metric* known = metric_of_number(name).metric;
        return !known || known->rate;
      },
      py::arg("name"));
  m.def("metric_text", &metric_text, py::arg("name"), py::arg("value"));
  m.def("report_format_names", [] { return report_formats().names(); });
}

}  // namespace

void bind_reports(py::module_& m) {
  bind_options<ClaimOptions>(m);
  bind_options<GroupReportOptions>(m);
  bind_runs(m);
  bind_quality_report(m);
  bind_operating_points(m);
  bind_inspection(m);
  bind_run_tables(m);
  bind_run_texts(m);
}

}  // namespace facebench
