#include "common.h"
#include "facebench/claims/against.h"
#include "facebench/claims/claim.h"
#include "facebench/claims/plan_report.h"
#include "facebench/claims/published.h"
#include "facebench/claims/published_json.h"
#include "facebench/claims/run_rules.h"
#include "facebench/runs/run_folder.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

void bind_published(py::module_& m) {
  m.def("publication_names", &publication_names);
  m.def(
      "load_publication",
      [](const std::string& name_or_path) {
        return json_to_python(publication_json(load_publication(name_or_path)));
      },
      py::arg("name_or_path"));
  m.def(
      "published_values",
      [](const std::string& name_or_path) {
        const Publication publication = load_publication(name_or_path);
        Json values = Json::array();
        for (const PublishedValue& v : published_values(publication))
          values.push_back(published_value_json(v));
        return json_to_python(values);
      },
      py::arg("name_or_path"));
  m.def("list_conditions",
        [] { return table_list(condition_names(), "identity", &ConditionName::identity); });
  m.def("list_published_units", [] { return published_units().names(); });
  m.def("list_erratum_kinds", [] { return erratum_kinds().names(); });
}

void bind_judgements(py::module_& m) {
  bind_options<ClaimOptions>(m);
  bind_options<PlanOptions>(m);
  m.def(
      "check_claim",
      [](const std::string& printed, const ProtocolSpec* protocol, const ClaimOptions& options,
         const std::string& against) {
        return json_to_python(claim_json(check_claim(printed, protocol, options, against)));
      },
      py::arg("printed"), py::arg("protocol"), py::arg("options"), py::arg("against"));
  m.def("condition_difference", &condition_difference, py::arg("name"), py::arg("recorded"),
        py::arg("published"));
  m.def(
      "against",
      [](const std::vector<std::filesystem::path>& folders, const std::string& publication,
         const std::map<std::string, std::string>& stated, const std::vector<std::string>& titles) {
        std::vector<Run> runs;
        for (const std::filesystem::path& folder : folders) runs.push_back(read_run(folder));
        return json_to_python(against_json(compare_with_published(
            runs, std::make_shared<const Publication>(load_publication(publication)),
            Conditions(stated.begin(), stated.end()), titles)));
      },
      py::arg("runs"), py::arg("publication"), py::arg("stated"), py::arg("titles"));
  m.def(
      "read_rules",
      [](const std::filesystem::path& path) {
        const auto named = [](const RunRules& r) {
          return dicts_of(r.rules, "name", &RunRule::name, "why", &RunRule::why);
        };
        return dict_of(read_rules(path), "id", &RunRules::id, "version", &RunRules::version,
                       "title", &RunRules::title, "source", &RunRules::source, "changes",
                       &RunRules::changes, "rules", named);
      },
      py::arg("path"));
  m.def(
      "check_run",
      [](const std::filesystem::path& run, const std::filesystem::path& rules, int threads) {
        return dicts_of(
            with_job(threads, py::none(),
                     [&](const Job& job) { return check_run(run, read_rules(rules), job); }),
            "name", &RuleResult::name, "passed", &RuleResult::passed, "reason",
            &RuleResult::reason);
      },
      py::arg("run"), py::arg("rules"), py::arg("threads") = 0);
  m.def(
      "plan_report",
      [](const std::filesystem::path& run, const PlanOptions& options) {
        return json_to_python(plan_report_json(plan_report(run, options)));
      },
      py::arg("run"), py::arg("options"));
}

}  // namespace

void bind_claims(py::module_& m) {
  bind_published(m);
  bind_judgements(m);
}

}  // namespace facebench
