#include <cmath>

#include "facebench/protocols/evaluate.h"

// What metrics.json holds.
namespace facebench {
namespace {

Json matrix_rows(const std::vector<double>& values, std::size_t columns) {
  Json rows = Json::array();
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k % columns == 0) rows.push_back(Json::array());
    rows.back().push_back(std::isfinite(values[k]) ? Json(values[k]) : Json(nullptr));
  }
  return rows;
}

Json bounds(const Interval& i) {
  if (!std::isfinite(i.low) || !std::isfinite(i.high)) return nullptr;
  return {i.low, i.high};
}

Json cell_json(const MetricCell& cell) {
  Json c = cell.details;
  c["value"] = cell.value;
  c["interval"] = nullptr;
  c["level"] = nullptr;
  c["method"] = "none";
  const Interval* any = cell.interval ? &*cell.interval : nullptr;
  if (cell.interval) c["interval"] = bounds(*any);
  if (cell.matrix) {
    const MatrixValue& m = *cell.matrix;
    c["rows"] = m.rows;
    c["columns"] = m.columns;
    c["value"] = matrix_rows(m.values, m.columns.size());
    if (!m.intervals.empty()) {
      any = &m.intervals.front();
      c["interval"] = Json::array();
      for (std::size_t k = 0; k < m.intervals.size(); ++k) {
        if (k % m.columns.size() == 0) c["interval"].push_back(Json::array());
        c["interval"].back().push_back(bounds(m.intervals[k]));
      }
    }
  }
  if (!cell.no_interval.empty()) c["no_interval"] = cell.no_interval;
  if (!any) return c;
  c["level"] = any->level;
  c["method"] = any->method;
  c["replicates"] = any->replicates;
  c["replicates_undefined"] = any->undefined;
  return c;
}

}  // namespace

Json metrics_json(const ProtocolSpec& spec, const EvaluationOptions& options,
                  std::span<const TrackResult> tracks) {
  Json json = {{"protocol", {{"id", spec.id}, {"version", spec.version}, {"sha256", spec.sha256}}},
               {"convention", *options.convention},
               {"tracks", Json::object()}};
  for (const TrackResult& t : tracks) {
    Json& out = json["tracks"][t.name];
    out["counts"] = {{"comparisons", t.comparisons},
                     {"genuine", t.genuine},
                     {"impostor", t.impostor},
                     {"failed_enrolments", t.failed.size()},
                     {"failure_to_enrol_rate", t.failure_to_enrol_rate()}};
    out["metrics"] = Json::object();
    if (t.templates > 0) {
      out["counts"]["templates"] = t.templates;
      out["counts"]["failed_samples"] = t.left_out.size();
    }
    // Folds stand in the cells that use them.
    for (const auto& [name, count] : t.more_counts)
      if (name != "folds") out["counts"][name] = count;
    for (const MetricCell& cell : t.cells) out["metrics"][cell.name] = cell_json(cell);
  }
  return json;
}

}  // namespace facebench
