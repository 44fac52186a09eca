#include <cmath>
#include <variant>

#include "facebench/evaluation/evaluate.h"

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

Json json_of(std::monostate) { return Json::object(); }

Json json_of(const Accuracy& a) {
  Json folds = Json::array();
  for (std::size_t i = 0; i < a.fold_accuracy.size(); ++i)
    folds.push_back({{"fold", a.folds[i]},
                     {"accuracy", a.fold_accuracy[i]},
                     {"threshold", number_or_null(a.fold_threshold[i])}});
  return {{"convention", a.convention},
          {"sd", number_or_null(a.sd)},
          {"standard_error", number_or_null(a.standard_error)},
          {"spread", number_or_null(a.spread)},
          {"wrong", a.wrong},
          {"comparisons", a.comparisons},
          {"folds", std::move(folds)}};
}

Json json_of(const TarAtFar& t) {
  return {{"convention", t.convention},
          {"far_target", t.far_target},
          {"far_achieved", number_or_null(t.far_achieved)},
          {"false_accepts", t.false_accepts},
          {"expected_false_accepts", t.expected_false_accepts},
          {"threshold", number_or_null(t.threshold)},
          {"reliable", t.reliable},
          {"genuine_accepted", t.genuine_accepted}};
}

Json json_of(const ThresholdAtFar& t) {
  Json json = json_of(t.at);
  json["tar"] = t.at.value;
  if (t.people > 0) json["people"] = t.people;
  return json;
}

Json json_of(const RankRate& r) {
  Json json = {{"rank", r.rank}, {"mated", r.mated}, {"gallery_people", r.gallery_people}};
  if (r.ties != "pessimistic") json["ties"] = r.ties;
  return json;
}

Json json_of(const DirAtFpir& d) {
  return {{"convention", d.convention},
          {"rank", d.rank},
          {"fpir_target", d.fpir_target},
          {"fpir_achieved", number_or_null(d.fpir_achieved)},
          {"false_positives", d.false_positives},
          {"expected_false_positives", d.expected_false_positives},
          {"threshold", number_or_null(d.threshold)},
          {"reliable", d.reliable},
          {"identified", d.identified},
          {"mated", d.mated},
          {"non_mated", d.non_mated}};
}

Json json_of(const TrackMean& m) {
  Json json = {{"tracks", m.tracks},
               {"sd", number_or_null(m.sd)},
               {"standard_error", number_or_null(m.standard_error)}};
  if (m.mean_less_sd) json["mean_less_sd"] = *m.mean_less_sd;
  return json;
}

Json number_json(const Number& number) {
  Json json = counts_json(number);
  json["value"] = number.value;
  json["interval"] = nullptr;
  json["level"] = nullptr;
  json["method"] = "none";
  const Interval* any = number.interval ? &*number.interval : nullptr;
  if (number.interval) json["interval"] = bounds(*any);
  if (number.matrix) {
    const MatrixValue& m = *number.matrix;
    json["rows"] = m.rows;
    json["columns"] = m.columns;
    json["value"] = matrix_rows(m.values, m.columns.size());
    if (!m.intervals.empty()) {
      any = &m.intervals.front();
      json["interval"] = Json::array();
      for (std::size_t k = 0; k < m.intervals.size(); ++k) {
        if (k % m.columns.size() == 0) json["interval"].push_back(Json::array());
        json["interval"].back().push_back(bounds(m.intervals[k]));
      }
    }
  }
  if (!number.no_interval.empty()) json["no_interval"] = number.no_interval;
  if (!any) return json;
  json["level"] = any->level;
  json["method"] = any->method;
  json["replicates"] = any->replicates;
  json["replicates_undefined"] = any->undefined;
  if (!any->note.empty()) json["interval_note"] = any->note;
  return json;
}

}  // namespace

Json counts_json(const Number& number) {
  Json json = std::visit([](const auto& counts) { return json_of(counts); }, number.counts);
  if (number.from_histogram) json["from"] = "histogram";
  if (number.bounds) json["bounds"] = {number.bounds->low, number.bounds->high};
  return json;
}

Json metrics_json(const Result& result) { return metrics_json(result, result.tracks); }

Json metrics_json(const ScoredTrials& scored, std::span<const TrackResult> tracks) {
  const ProtocolSpec& spec = scored.spec;
  Json json = {{"protocol", {{"id", spec.id}, {"version", spec.version}, {"sha256", spec.sha256}}},
               {"convention", *scored.options.convention},
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
    for (const Number& number : t.numbers) out["metrics"][number.name] = number_json(number);
  }
  return json;
}

}  // namespace facebench
