#include "facebench/claims/published_json.h"

namespace facebench {
namespace {

Json conditions_json(const Conditions& conditions) {
  Json json = Json::object();
  for (const auto& [name, value] : conditions) json[name] = value;
  return json;
}

Json address_json(const MeasureAddress& a) {
  if (a.empty()) return nullptr;
  return {{"protocol", a.protocol},
          {"track", a.track},
          {"metric", a.metric},
          {"row", a.row},
          {"column", a.column}};
}

Json number_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json table_json(const PublishedTable& t) {
  Json columns = Json::array(), rows = Json::array(), errata = Json::array();
  for (const PublishedColumn& c : t.columns)
    columns.push_back({{"id", c.id},
                       {"title", c.title},
                       {"unit", c.unit},
                       {"measures", address_json(c.measures)}});
  for (const PublishedRow& r : t.rows) {
    Json printed = Json::array(), values = Json::array();
    for (const PublishedCell& c : r.cells) {
      printed.push_back(c.printed);
      values.push_back(number_json(c.value));
    }
    rows.push_back({{"name", r.name},
                    {"conditions", conditions_json(r.conditions)},
                    {"printed", printed},
                    {"values", values}});
  }
  for (const PublishedErratum& e : t.errata)
    errata.push_back({{"kind", e.kind},
                      {"note", e.note},
                      {"suggests", e.suggests},
                      {"rows", e.rows},
                      {"columns", e.columns}});
  return {{"id", t.id},         {"place", t.place}, {"title", t.title}, {"notes", t.notes},
          {"columns", columns}, {"rows", rows},     {"errata", errata}};
}

}  // namespace

Json published_value_json(const PublishedValue& v) {
  Json errata = Json::array();
  for (const PublishedErratum* e : v.errata)
    errata.push_back({{"kind", e->kind}, {"note", e->note}, {"suggests", e->suggests}});
  return {{"table", v.table->id},
          {"place", v.table->place},
          {"about", v.table->title},
          {"row", v.row->name},
          {"column", v.column->id},
          {"title", v.column->title},
          {"printed", v.cell->printed},
          {"value", number_json(v.cell->value)},
          {"half_unit", v.cell->half_unit},
          {"unit", v.column->unit},
          {"conditions", conditions_json(v.row->conditions)},
          {"measures", address_json(v.column->measures)},
          {"errata", errata}};
}

Json publication_json(const Publication& p) {
  Json tables = Json::array();
  for (const PublishedTable& t : p.tables) tables.push_back(table_json(t));
  return {{"id", p.id},       {"version", p.version}, {"title", p.title}, {"citation", p.citation},
          {"notes", p.notes}, {"sha256", p.sha256},   {"tables", tables}};
}

}  // namespace facebench
