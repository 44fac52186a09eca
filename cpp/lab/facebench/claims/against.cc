#include "facebench/claims/against.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "facebench/claims/published_json.h"
#include "facebench/evaluation/embedded.h"
#include "facebench/metrics/template_fusion.h"

namespace facebench {
namespace {

const std::string* find_condition(const Conditions& conditions, std::string_view name) {
  for (const auto& [key, value] : conditions)
    if (key == name) return &value;
  return nullptr;
}

// What decides whether a run's numbers are those of a published system.
struct RunFacts {
  std::string protocol, title;
  Conditions conditions;
  std::string other_data;  // why its data is not the paper's; "" = nothing is known against it
};

// The conditions that a manifest holds, and where.
struct RecordedCondition {
  const char* name;
  const char* place;
};
constexpr RecordedCondition kRecorded[] = {
    {"network", "/embeddings/manifest/model/network"},
    {"loss", "/embeddings/manifest/model/training/loss"},
    {"training_set", "/embeddings/manifest/model/training/training_set/name"},
    {"training", "/embeddings/manifest/model/training/recipe"},
    {"framework", "/embeddings/manifest/model/training/engine"},
    {"device", "/embeddings/manifest/model/training/device"},
    {"test_people", ""},
    {"detector", "/preparation/detector/detector"},
    {"crop", "/preparation/crop/name"},
    {"flip", "/embeddings/manifest/extract/flip"},
    {"fusion", "/options/fusion"},
    {"tar_at_far", "/options/tar_at_far_convention"}};

// The framework of an engine that trained: "keras-tensorflow-tape" is TensorFlow.
std::string framework_of(const std::string& engine) {
  for (const char* framework : {"tensorflow", "jax", "pytorch"})
    if (engine.starts_with(fmt::format("keras-{}", framework))) return framework;
  return engine;
}

// Whether two words for a condition mean the same: a script's fusion is its switches, and every
// card is "cuda".
bool same_condition(std::string_view name, const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (name == "framework") return framework_of(a) == framework_of(b);
  if (name == "device") return (a == "cpu") == (b == "cpu") && (a == "cuda" || b == "cuda");
  if (name != "fusion") return false;
  const TemplateFusion* one = template_fusions().find(a);
  const TemplateFusion* other = template_fusions().find(b);
  return one && other && one->unit_samples == other->unit_samples && one->medium == other->medium &&
         one->detector_scores == other->detector_scores;
}

constexpr std::string_view kChanged = ", changed";

// What a manifest says of a condition; "" where it says nothing.
std::string recorded_condition(const Json& content, const RecordedCondition& condition) {
  std::string recorded = text_at(content, condition.place);
  const Json::json_pointer training("/embeddings/manifest/model/training");
  if (!content.contains(training)) return recorded;
  const Json& record = content.at(training);
  const std::string_view name = condition.name;
  if (name == "training" && !recorded.empty())
    for (const char* part : {"changed", "own"})  // settings, or parts left to the framework
      if (record.contains(part) && !record.at(part).empty()) return recorded.append(kChanged);
  const auto set = record.find("training_set");
  if (name == "test_people" && set != record.end() && set->is_object())
    return set->contains("removed") ? "removed" : "kept";
  return recorded;
}

// Whether a caller may call a recorded condition otherwise: the name of a file is not that of a
// data set, and that of one's own recipe is anything; unless the publication knows that name, or it
// is a recipe of ours.
bool may_be_restated(std::string_view name, std::string recorded, const Publication& publication) {
  if (name != "training_set" && name != "training") return false;
  if (recorded.ends_with(kChanged)) recorded.resize(recorded.size() - kChanged.size());
  if (name == "training" && find_embedded("recipes/" + recorded)) return false;
  for (const PublishedTable& table : publication.tables)
    for (const PublishedRow& row : table.rows)
      if (const std::string* known = find_condition(row.conditions, name);
          known && *known == recorded)
        return false;
  return true;
}

// What is stated of the runs of a title: of all runs, then of these.
Conditions stated_of(const std::string& title, const Conditions& stated) {
  Conditions result;
  for (const bool of_title : {true, false})
    for (const auto& [key, value] : stated) {
      const std::size_t colon = key.rfind(':');
      const std::string name = key.substr(colon + 1);
      if (of_title != (colon != std::string::npos) || find_condition(result, name)) continue;
      if (!of_title || key.substr(0, colon) == title) result.emplace_back(name, value);
    }
  return result;
}

void check_stated(const Conditions& stated, const std::vector<std::string>& titles) {
  for (const auto& [key, value] : stated) {
    const std::size_t colon = key.rfind(':');
    condition_names().at(key.substr(colon + 1));
    if (colon == std::string::npos) continue;
    const std::string title = key.substr(0, colon);
    if (std::ranges::find(titles, title) == titles.end())
      throw std::invalid_argument(unknown_name_message("title of a run", title, titles));
  }
}

RunFacts facts_of(const Run& run, const std::string& title, const Conditions& stated,
                  const Publication& publication) {
  const Json& content = run.manifest.content;
  RunFacts facts{run.metrics.at("protocol").at("id"), title, stated, ""};
  for (const RecordedCondition& condition : kRecorded) {
    const std::string recorded = recorded_condition(content, condition), name = condition.name;
    if (recorded.empty()) continue;
    const std::string* stated_value = find_condition(stated, name);
    if (stated_value && !condition_difference(name, *stated_value, recorded).empty() &&
        !may_be_restated(name, recorded, publication))
      throw std::invalid_argument(fmt::format("{} '{}' is stated, but {} was made with '{}'", name,
                                              *stated_value, run.folder.string(), recorded));
    if (!stated_value) facts.conditions.emplace_back(name, recorded);
  }
  for (const Json& note : content.value("notes", Json::array()))
    if (note.is_string() && note.get<std::string>().starts_with("Not the official list"))
      facts.other_data = "the run's lists are not the official ones";
  if (content.value("synthetic", false)) facts.other_data = "the run's faces are synthetic";
  return facts;
}

void compare_conditions(const RunFacts& run, AgainstMatch& m) {
  const Conditions& printed = m.published.row->conditions;
  if (!run.other_data.empty()) m.differs.push_back(run.other_data);
  for (const auto& [name, published] : printed) {
    const std::string* recorded = find_condition(run.conditions, name);
    const ConditionName& condition = condition_names().at(name);
    const std::string difference =
        recorded ? condition_difference(name, *recorded, published) : std::string();
    if (!difference.empty())
      m.differs.push_back(difference);
    else if (!recorded)
      (condition.identity || condition.preparation ? m.unknown : m.unchecked).push_back(name);
  }
  for (const ConditionName& c : condition_names().entries())
    if (c.identity && !find_condition(printed, c.name))
      m.differs.push_back(fmt::format("{} is not stated in the paper", c.name));
}

MeasureAddress address_of(const ReportTable::Row& row) {
  return {row.protocol, row.track, row.metric, row.row, row.column};
}

AgainstMatch match(const ReportTable& table, std::size_t row, std::size_t column,
                   const PublishedValue& value, const RunFacts& run) {
  AgainstMatch m{row, column, value, {}, {}, {}, 0, ""};
  compare_conditions(run, m);
  const ReportTable::Cell& cell = table.rows[row].cells[column];
  const double scale = published_units().at(value.column->unit).scale;
  m.difference = cell.value / scale - *value.cell->value;
  if (!cell.interval || !std::isfinite(cell.interval->low) || !std::isfinite(cell.interval->high))
    return m;
  const double low = *value.cell->value - value.cell->half_unit;
  const double high = *value.cell->value + value.cell->half_unit;
  m.lies = low > cell.interval->high / scale   ? "above"
           : high < cell.interval->low / scale ? "below"
                                               : "inside";
  return m;
}

// What stands in a cell, as text: "97.2 %", "+0.43".
std::string published_text(const PublishedValue& value) {
  const std::string& unit = value.column->unit;
  return unit == "%" ? value.cell->printed + " %" : value.cell->printed;
}

std::string difference_text(const AgainstMatch& match) {
  if (std::isnan(match.difference)) return "";
  return fmt::format("{:+.{}f}", match.difference,
                     match.published.column->unit == "similarity" ? 3 : 2);
}

// "ResNet-50, table 3".
std::string published_source(const PublishedValue& value) {
  return fmt::format("{}, {}", value.row->name, value.table->place);
}

}  // namespace

std::string condition_difference(const std::string& name, const std::string& recorded,
                                 const std::string& published) {
  if (same_condition(name, recorded, published)) return "";
  if (name == "framework" && recorded == "facebench")
    return fmt::format("framework: {} is imitated by facebench", published);
  return fmt::format("{} is {}, not {}", name, recorded, published);
}

Against compare_with_published(std::span<const Run> runs,
                               std::shared_ptr<const Publication> publication,
                               const Conditions& stated, std::vector<std::string> titles) {
  if (titles.empty()) titles = run_titles(runs);
  check_stated(stated, titles);
  Against a;
  a.publication = std::move(publication);
  a.stated = stated;
  a.table = make_table(runs, titles);
  std::vector<RunFacts> facts;
  for (std::size_t i = 0; i < runs.size(); ++i)
    facts.push_back(facts_of(runs[i], titles[i], stated_of(titles[i], stated), *a.publication));

  const std::vector<PublishedValue> values = published_values(*a.publication);
  std::vector<bool> measured(values.size(), false);
  for (std::size_t r = 0; r < a.table.rows.size(); ++r) {
    const MeasureAddress address = address_of(a.table.rows[r]);
    for (std::size_t c = 0; c < a.table.columns.size(); ++c) {
      if (!a.table.rows[r].cells[c].present) continue;
      const auto run = std::ranges::find_if(facts, [&](const RunFacts& f) {
        return f.protocol == address.protocol && f.title == a.table.columns[c];
      });
      for (std::size_t v = 0; v < values.size(); ++v) {
        if (values[v].column->measures != address || !values[v].cell->value) continue;
        measured[v] = true;
        a.matches.push_back(match(a.table, r, c, values[v], *run));
      }
    }
  }
  for (std::size_t v = 0; v < values.size(); ++v)
    if (!measured[v]) a.not_measured.push_back(values[v]);
  return a;
}

std::vector<std::size_t> Against::others() const {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < matches.size(); ++i)
    if (!matches[i].same()) numbers.push_back(i);
  const auto distance = [&](std::size_t i) {
    const double d = std::abs(matches[i].difference);
    return std::pair(matches[i].differs.size(), std::isnan(d) ? HUGE_VAL : d);
  };
  std::ranges::stable_sort(numbers, {}, distance);
  return numbers;
}

Json against_json(const Against& a) {
  const auto with_run = [&](const AgainstMatch& m) {
    const ReportTable::Row& row = a.table.rows[m.row];
    const ReportTable::Cell& cell = row.cells[m.column];
    Json json = published_value_json(m.published);
    json["run"] = a.table.columns[m.column];
    json["number"] = row_title(row);
    json["ours"] = number_or_null(cell.value);
    json["interval"] = cell.interval ? Json{number_or_null(cell.interval->low),
                                            number_or_null(cell.interval->high)}
                                     : Json();
    json["ours_text"] = cell_text(row, cell);
    json["published_text"] = published_text(m.published);
    json["source"] = published_source(m.published);
    json["difference"] = number_or_null(m.difference);
    json["difference_text"] = difference_text(m);
    json["published_lies"] = m.lies;
    json["differs"] = m.differs;
    json["unknown"] = m.unknown;
    json["unchecked"] = m.unchecked;
    for (const std::string& name : m.unknown)
      json["differs"].push_back(fmt::format("{} is not known of the run", name));
    return json;
  };
  Json same = Json::array(), other = Json::array(), rest = Json::array();
  for (const AgainstMatch& m : a.matches)
    if (m.same()) same.push_back(with_run(m));
  for (const std::size_t i : a.others()) other.push_back(with_run(a.matches[i]));
  for (const PublishedValue& v : a.not_measured) rest.push_back(published_value_json(v));
  Json stated = Json::object();
  for (const auto& [name, value] : a.stated) stated[name] = value;
  return {{"publication", a.publication->id},
          {"citation", a.publication->citation},
          {"notes", a.publication->notes},
          {"stated", stated},
          {"same", same},
          {"other_systems", other},
          {"not_measured", rest}};
}

}  // namespace facebench
