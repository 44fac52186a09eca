#include "facebench/reports/against.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "facebench/protocols/published_json.h"

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

std::string network_of(const Json& content) {
  const Json* at = &content;
  for (const char* key : {"embeddings", "manifest", "model", "network"}) {
    if (!at->is_object() || !at->contains(key)) return "";
    at = &(*at)[key];
  }
  return at->is_string() ? at->get<std::string>() : "";
}

RunFacts facts_of(const Run& run, const std::string& title, const Conditions& stated) {
  const Json& content = run.manifest.content;
  RunFacts facts{run.metrics["protocol"]["id"], title, stated, ""};
  if (const std::string network = network_of(content); !network.empty()) {
    const std::string* said = find_condition(stated, "network");
    if (said && *said != network)
      throw std::invalid_argument(fmt::format("network '{}' is stated, but {} was made with '{}'",
                                              *said, run.folder.string(), network));
    if (!said) facts.conditions.emplace_back("network", network);
  }
  for (const Json& note : content.value("notes", Json::array()))
    if (note.is_string() && note.get<std::string>().starts_with("Not the official list"))
      facts.other_data = "the run's lists are not the official ones";
  if (content.value("synthetic", false)) facts.other_data = "the run's faces are synthetic";
  return facts;
}

std::vector<std::string> differences(const RunFacts& run, const PublishedValue& value) {
  std::vector<std::string> differs;
  if (!run.other_data.empty()) differs.push_back(run.other_data);
  for (const auto& [name, published] : value.row->conditions) {
    const std::string* own = find_condition(run.conditions, name);
    if (own && *own != published)
      differs.push_back(fmt::format("{} is {}, not {}", name, *own, published));
    else if (!own && condition_names().at(name).identity)
      differs.push_back(fmt::format("{} is not known of the run", name));
  }
  for (const ConditionName& c : condition_names().entries())
    if (c.identity && !find_condition(value.row->conditions, c.name))
      differs.push_back(fmt::format("{} is not stated in the paper", c.name));
  return differs;
}

MeasureAddress address_of(const ReportTable::Row& row) {
  return {row.protocol, row.track, row.metric, row.row, row.column};
}

AgainstMatch match(const ReportTable& table, std::size_t row, std::size_t column,
                   const PublishedValue& value, std::vector<std::string> differs) {
  AgainstMatch m{row, column, value, std::move(differs), 0, ""};
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

}  // namespace

Against compare_with_published(std::span<const Run> runs,
                               std::shared_ptr<const Publication> publication,
                               const Conditions& stated, std::vector<std::string> titles) {
  for (const auto& [name, value] : stated) condition_names().at(name);
  if (titles.empty()) titles = run_titles(runs);
  Against a;
  a.publication = std::move(publication);
  a.stated = stated;
  a.table = make_table(runs, titles);
  std::vector<RunFacts> facts;
  for (std::size_t i = 0; i < runs.size(); ++i)
    facts.push_back(facts_of(runs[i], titles[i], stated));

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
        a.matches.push_back(match(a.table, r, c, values[v], differences(*run, values[v])));
      }
    }
  }
  for (std::size_t v = 0; v < values.size(); ++v)
    if (!measured[v]) a.not_measured.push_back(values[v]);
  return a;
}

std::string published_text(const PublishedValue& value) {
  const std::string& unit = value.column->unit;
  return unit == "%" ? value.cell->printed + " %" : value.cell->printed;
}

std::string difference_text(const AgainstMatch& match) {
  if (std::isnan(match.difference)) return "";
  return fmt::format("{:+.{}f}", match.difference,
                     match.published.column->unit == "similarity" ? 3 : 2);
}

std::string published_source(const PublishedValue& value) {
  return fmt::format("{}, {}", value.row->name, value.table->place);
}

Json against_json(const Against& a) {
  const auto with_run = [&](const AgainstMatch& m) {
    const ReportTable::Row& row = a.table.rows[m.row];
    const ReportTable::Cell& cell = row.cells[m.column];
    Json json = published_value_json(m.published);
    const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(); };
    json["run"] = a.table.columns[m.column];
    json["number"] = row_title(row);
    json["ours"] = number(cell.value);
    json["interval"] =
        cell.interval ? Json{number(cell.interval->low), number(cell.interval->high)} : Json();
    json["ours_text"] = cell_text(row, cell);
    json["published_text"] = published_text(m.published);
    json["source"] = published_source(m.published);
    json["difference"] = number(m.difference);
    json["difference_text"] = difference_text(m);
    json["published_lies"] = m.lies;
    json["differs"] = m.differs;
    return json;
  };
  Json same = Json::array(), other = Json::array(), rest = Json::array();
  for (const AgainstMatch& m : a.matches) (m.same() ? same : other).push_back(with_run(m));
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
