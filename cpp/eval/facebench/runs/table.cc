#include "facebench/runs/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "facebench/core/error.h"
#include "facebench/core/natural_order.h"
#include "facebench/core/numbers.h"
#include "facebench/core/utf8.h"
#include "facebench/evaluation/convention_choice.h"
#include "facebench/evaluation/metric.h"
#include "facebench/runs/own_protocol.h"

namespace facebench {
namespace {

using Cell = ReportTable::Cell;

// The metric of a row that counts failures to enrol.
constexpr const char* kFailureToEnrol = "failure_to_enrol_rate";
// Of rates on fewer than ten expected errors, and of intervals with a note: "+", of another "++".
constexpr const char* kUnreliableMark = "*";
constexpr char kIntervalMark = '+';

double number(const Json& cell, const char* key, double fallback) {
  return cell.contains(key) && cell[key].is_number() ? cell[key].get<double>() : fallback;
}

// Rates at an error rate: the keys of a cell in metrics.json.
struct SupportKeys {
  const char *rate, *target, *achieved, *errors, *expected;
};
constexpr SupportKeys kSupports[] = {
    {"FAR", "far_target", "far_achieved", "false_accepts", "expected_false_accepts"},
    {"FPIR", "fpir_target", "fpir_achieved", "false_positives", "expected_false_positives"}};

std::optional<ReportTable::Support> read_support(const Json& json) {
  for (const SupportKeys& keys : kSupports) {
    if (!json.contains(keys.target)) continue;
    ReportTable::Support s;
    s.rate = keys.rate;
    s.target = number(json, keys.target, 0);
    if (json.contains(keys.achieved) && json[keys.achieved].is_number())
      s.achieved = json[keys.achieved].get<double>();
    s.errors = static_cast<std::int64_t>(number(json, keys.errors, 0));
    s.expected = number(json, keys.expected, 0);
    if (json.contains("reliable") && json["reliable"].is_boolean())
      s.reliable = json["reliable"].get<bool>();
    return s;
  }
  return std::nullopt;
}

std::optional<ReportTable::Bounds> read_bounds(const Json& json) {
  if (!json.is_array() || json.size() != 2 || !json[0].is_number() || !json[1].is_number())
    return std::nullopt;
  return ReportTable::Bounds{json[0].get<double>(), json[1].get<double>()};
}

[[noreturn]] void no_number(const std::string& where) {
  fail(where, "a metric has no number as its value", "Run the evaluation again.");
}

double read_value(const Json& json, const std::string& where) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!json.is_number()) no_number(where);
  return json.get<double>();
}

// A metric is one cell, or a matrix of them with labels.
struct Entry {
  std::string row, column;
  Cell cell;
};
std::vector<Entry> read_metric(const Json& json, const std::string& where) {
  if (!json.is_object() || !json.contains("value")) no_number(where);
  Cell base;
  base.present = true;
  base.level = number(json, "level", 0);
  base.method = text_at(json, "/method");
  if (const std::string why = text_at(json, "/no_interval"); !why.empty())
    base.method = "none: " + why;
  base.note = text_at(json, "/interval_note");
  base.support = read_support(json);
  base.sd = number(json, "sd", -1);
  base.standard_error = number(json, "standard_error", -1);
  if (json.contains("bounds")) base.bounds = read_bounds(json["bounds"]);
  const Json none;
  const Json& value = json.at("value");
  const Json& interval = json.contains("interval") ? json["interval"] : none;
  if (!value.is_array()) {
    base.value = read_value(value, where);
    base.interval = read_bounds(interval);
    return {{"", "", base}};
  }
  std::vector<Entry> entries;
  const auto rows = json.value("rows", std::vector<std::string>());
  const auto columns = json.value("columns", std::vector<std::string>());
  if (value.size() != rows.size()) no_number(where);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!value[i].is_array() || value[i].size() != columns.size()) no_number(where);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      Entry e{rows[i], columns[j], base};
      e.cell.value = read_value(value[i][j], where);
      if (interval.is_array() && i < interval.size() && interval[i].is_array() &&
          j < interval[i].size())
        e.cell.interval = read_bounds(interval[i][j]);
      entries.push_back(std::move(e));
    }
  }
  return entries;
}

std::string protocol_id(const Json& metrics, const std::string& where) {
  std::string id = text_at(metrics, "/protocol/id");
  if (id.empty()) fail(where, "names no protocol", "Run the evaluation again.");
  return id;
}

// Failures to enrol out of what was to be enrolled: templates where there are any, else samples.
std::optional<Cell> failures(const Json& counts, const Json& totals) {
  const double templates = number(totals, "templates", 0);
  const double total = templates > 0 ? templates : number(totals, "samples", 0);
  if (total <= 0) return std::nullopt;
  Cell c;
  c.present = true;
  c.counted =
      ReportTable::Counted{static_cast<std::int64_t>(number(counts, "failed_enrolments", 0)),
                           static_cast<std::int64_t>(total)};
  c.value = static_cast<double>(c.counted->count) / total;
  c.method = "none";
  return c;
}

std::int64_t protocol_version(const Run& run) {
  return static_cast<std::int64_t>(number(run.metrics["protocol"], "version", 0));
}

// The keys of an object in natural order: split2 before split10.
std::vector<std::string> natural_keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  std::ranges::sort(keys, natural_less);
  return keys;
}

// Protocols that the runs have in more than one version. Their numbers are not comparable.
std::set<std::string> protocols_in_versions(std::span<const Run> runs) {
  std::map<std::string, std::int64_t> first;
  std::set<std::string> mixed;
  for (const Run& run : runs) {
    const std::string id = protocol_id(run.metrics, (run.folder / "metrics.json").string());
    const auto [known, added] = first.emplace(id, protocol_version(run));
    if (!added && known->second != protocol_version(run)) mixed.insert(id);
  }
  return mixed;
}

class TableBuilder {
 public:
  TableBuilder(ReportTable& table, std::set<std::string> mixed)
      : table_(table), mixed_(std::move(mixed)) {}

  void add(const Run& run, std::size_t column) {
    const std::string where = (run.folder / "metrics.json").string();
    std::string protocol = protocol_id(run.metrics, where);
    if (mixed_.contains(protocol)) protocol += fmt::format(" (version {})", protocol_version(run));
    const Json& tracks = run.manifest.content["tracks"];
    for (const std::string& track : natural_keys(run.metrics["tracks"])) {
      const Json& content = run.metrics["tracks"][track];
      if (!content.is_object() || !content.contains("metrics") || !content["metrics"].is_object())
        fail(where, fmt::format("track {} has no metrics", track));
      std::vector<std::string> metrics;
      for (const auto& [metric, json] : content["metrics"].items()) metrics.push_back(metric);
      std::ranges::stable_sort(metrics, metric_before);
      for (const std::string& metric : metrics)
        for (Entry& e : read_metric(content["metrics"][metric], where)) {
          e.cell.rule = rule_of(run, metric);
          put({protocol, track, metric, e.row, e.column, {}}, column, e.cell);
        }
      if (const auto cell = failures(content.value("counts", Json::object()),
                                     tracks.value(track, Json::object())))
        put({protocol, track, kFailureToEnrol, "", "", {}}, column, *cell);
    }
  }

 private:
  static std::string rule_of(const Run& run, const std::string& number) {
    const Metric* metric = metric_of_number(number).metric;
    const auto options = run.manifest.content.find("options");
    return metric && options != run.manifest.content.end() ? rule_in_its_place(*options, *metric)
                                                           : "";
  }

  void put(ReportTable::Row key, std::size_t column, const Cell& cell) {
    auto row = std::ranges::find_if(table_.rows, [&](const ReportTable::Row& x) {
      return x.protocol == key.protocol && x.track == key.track && x.metric == key.metric &&
             x.row == key.row && x.column == key.column;
    });
    if (row == table_.rows.end()) {
      // Beside the rows of its track, where another run began it.
      row = std::find_if(table_.rows.rbegin(), table_.rows.rend(), [&](const ReportTable::Row& x) {
              return x.protocol == key.protocol && x.track == key.track;
            }).base();
      if (row == table_.rows.begin()) row = table_.rows.end();
      key.cells.resize(table_.columns.size());
      row = table_.rows.insert(row, std::move(key));
    }
    if (row->cells[column].present)
      throw std::invalid_argument(fmt::format("two runs of protocol {} are titled '{}'",
                                              row->protocol, table_.columns[column]));
    row->cells[column] = cell;
  }

  ReportTable& table_;
  std::set<std::string> mixed_;  // protocols whose version stands in their rows
};

// What the mark of cells at these rates means.
std::string unreliable_note(const std::set<std::string>& rates) {
  const bool far = rates.contains("FAR"), fpir = rates.contains("FPIR");
  return fmt::format("{} Fewer than ten {}{}{} were expected: the value rests on a handful of {}.",
                     kUnreliableMark, far ? "false accepts at this FAR" : "",
                     far && fpir ? " or " : "", fpir ? "false positives at this FPIR" : "",
                     far && fpir ? "them"
                     : far       ? "comparisons"
                                 : "searches");
}

// The sentences that explain the marks that are in the table.
std::vector<std::string> table_notes(const ReportTable& table) {
  std::set<std::string> rates;
  std::map<std::string, std::string> of_intervals;  // by mark: "+" before "++"
  for (const ReportTable::Row& row : table.rows)
    for (const Cell& c : row.cells) {
      if (c.present && c.support && !c.support->reliable) rates.insert(c.support->rate);
      if (c.present && !c.mark.empty()) of_intervals[c.mark] = c.note;
    }
  std::vector<std::string> notes = table.own_protocols;
  if (!rates.empty()) notes.push_back(unreliable_note(rates));
  for (const auto& [mark, note] : of_intervals) notes.push_back(fmt::format("{} {}.", mark, note));
  return notes;
}

// Gives each note of an interval a mark of its own.
void mark_notes(ReportTable& table) {
  std::map<std::string, std::string> marks;
  const auto each = [&](const auto& visit) {
    for (ReportTable::Row& row : table.rows)
      for (Cell& c : row.cells)
        if (c.present && c.interval && !c.note.empty()) visit(c);
  };
  each([&](const Cell& c) { marks[c.note]; });
  std::size_t length = 0;
  for (auto& [note, mark] : marks) mark = std::string(++length, kIntervalMark);
  each([&](Cell& c) { c.mark = marks.at(c.note); });
}

// Why cells have no interval, each reason once.
std::set<std::string> reasons_without_interval(const ReportTable& table) {
  constexpr std::string_view none = "none: ";
  std::set<std::string> reasons;
  for (const ReportTable::Row& row : table.rows)
    for (const Cell& c : row.cells)
      if (c.present && c.method.starts_with(none)) reasons.insert(c.method.substr(none.size()));
  return reasons;
}

}  // namespace

bool metric_is_rate(const std::string& metric) {
  const Metric* known = metric_of_number(metric).metric;
  return !known || known->rate;
}

std::string metric_text(const std::string& metric, double value) {
  if (std::isnan(value)) return "undefined";
  return metric_is_rate(metric) ? fmt::format("{:.2f}", 100 * value) : fmt::format("{:.3f}", value);
}

std::string metric_title(const std::string& metric) {
  if (metric == kFailureToEnrol) return "failures to enrol";
  const auto [known, target, row, column] = metric_of_number(metric);
  if (!known) return metric;
  if (!row.empty()) return fmt::format("{}, {} against {}", known->title, row, column);
  if (!known->takes_targets) return known->title;
  if (known->targets_are_ranks) return fmt::format("{} {}", known->title, target);
  const std::optional<double> number = number_of(target);
  return number ? fmt::format("{} {:.6g} %", known->title, 100 * *number) : metric;
}

bool metric_before(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& name) {
    const auto [metric, target, row, column] = metric_of_number(name);
    // What is not a number: by name.
    const std::optional<double> number =
        metric && metric->takes_targets ? number_of(target) : std::nullopt;
    return std::pair(number ? metric->prefix : name, number.value_or(0));
  };
  return key(a) < key(b);
}

std::string table_text(const ReportTable& table) {
  const auto characters = [](const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
  };
  std::vector<std::vector<std::string>> lines = {{"rates in %"}};
  lines[0].insert(lines[0].end(), table.columns.begin(), table.columns.end());
  for (const ReportTable::Row& row : table.rows) {
    auto& line = lines.emplace_back();
    line.push_back(fmt::format("{} {}: {}", row.protocol, row.track, row_title(row)));
    for (const Cell& c : row.cells) line.push_back(cell_text(row, c));
  }
  std::vector<std::size_t> widths(lines[0].size());
  for (auto& line : lines)
    for (std::size_t k = 0; k < line.size(); ++k) {
      line[k] = printable(line[k]);
      widths[k] = std::max(widths[k], characters(line[k]));
    }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t k = 0; k < line.size(); ++k)
      text += line[k] + std::string(widths[k] + 2 - characters(line[k]), ' ');
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  for (const std::string& note : table_notes(table)) out += "\n" + note + "\n";
  for (const std::string& why : reasons_without_interval(table))
    out += fmt::format("\nNo interval: {}.\n", why);
  return out;
}

namespace {

Json cell_json(const ReportTable::Row& row, const Cell& c) {
  if (!c.present) return nullptr;
  const auto bounds = [&](const std::optional<ReportTable::Bounds>& b) {
    return b ? Json{number_or_null(b->low), number_or_null(b->high)} : Json();
  };
  const auto written = [&](const std::optional<ReportTable::Bounds>& b) {
    return b ? Json{metric_text(row.metric, b->low), metric_text(row.metric, b->high)} : Json();
  };
  Json j = {{"text", cell_text(row, c)},
            {"value", number_or_null(c.value)},
            {"interval", bounds(c.interval)},
            {"bounds", bounds(c.bounds)},
            {"written",
             {{"value", metric_text(row.metric, c.value)},
              {"interval", written(c.interval)},
              {"bounds", written(c.bounds)}}},
            {"level", c.level},
            {"method", c.method},
            {"note", c.note},
            {"mark", c.mark},
            {"rule", c.rule},
            {"support", nullptr},
            {"counted", nullptr},
            {"sd", nullptr},
            {"standard_error", nullptr}};
  if (c.support)
    j["support"] = {{"rate", c.support->rate},
                    {"target", c.support->target},
                    {"achieved", number_or_null(c.support->achieved)},
                    {"errors", c.support->errors},
                    {"expected", c.support->expected},
                    {"reliable", c.support->reliable}};
  if (c.counted) j["counted"] = {{"count", c.counted->count}, {"total", c.counted->total}};
  if (c.standard_error >= 0) {
    j["sd"] = c.sd;
    j["standard_error"] = c.standard_error;
  }
  return j;
}

}  // namespace

Json table_json(const ReportTable& table) {
  Json rows = Json::array();
  for (const ReportTable::Row& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& c : row.cells) cells.push_back(cell_json(row, c));
    rows.push_back({{"protocol", row.protocol},
                    {"track", row.track},
                    {"metric", row.metric},
                    {"row", row.row},
                    {"column", row.column},
                    {"title", row_title(row)},
                    {"quantity", metric_title(row.metric)},
                    {"is_rate", metric_is_rate(row.metric)},
                    {"cells", std::move(cells)}});
  }
  Json json = {{"columns", table.columns},
               {"rows", std::move(rows)},
               {"notes", table_notes(table)},
               {"no_interval", reasons_without_interval(table)}};
  if (!table.own_protocols.empty()) json["own_protocols"] = table.own_protocols;
  return json;
}

std::string row_title(const ReportTable::Row& row) {
  std::string title = metric_title(row.metric);
  if (!row.row.empty() || !row.column.empty())
    title += fmt::format(", {} - {}", row.row, row.column);
  return title;
}

std::string cell_text(const ReportTable::Row& row, const Cell& c) {
  if (!c.present) return "";
  std::string text = metric_text(row.metric, c.value);
  if (c.support && !c.support->reliable) text += kUnreliableMark;
  if (c.interval)
    text += fmt::format(" [{}, {}]", metric_text(row.metric, c.interval->low),
                        metric_text(row.metric, c.interval->high)) +
            c.mark;
  if (c.bounds)
    text += fmt::format(" (between {} and {})", metric_text(row.metric, c.bounds->low),
                        metric_text(row.metric, c.bounds->high));
  if (c.support && c.support->achieved)
    text += fmt::format(" ({} at {} {:.4g} %)", c.support->errors, c.support->rate,
                        100 * *c.support->achieved);
  if (!c.rule.empty()) text += fmt::format(" (rule: {})", c.rule);
  if (c.counted) text += fmt::format(" ({} of {})", c.counted->count, c.counted->total);
  return text;
}

std::vector<std::string> run_titles(std::span<const Run> runs) {
  std::vector<std::string> titles;
  std::set<std::pair<std::string, std::string>> models, taken;
  const bool by_model = std::ranges::all_of(runs, [&](const Run& run) {
    const Json& content = run.manifest.content;
    const std::string model = text_at(content, "/embedder");
    return !model.empty() && models.emplace(content["protocol"]["id"], model).second;
  });
  for (const Run& run : runs) {
    const std::string protocol = run.manifest.content["protocol"]["id"];
    const std::string name =
        by_model ? run.manifest.content["embedder"] : Json(run_name(run.folder));
    std::string title = name;
    for (int k = 2; !taken.emplace(protocol, title).second; ++k)
      title = fmt::format("{} ({})", name, k);
    titles.push_back(std::move(title));
  }
  return titles;
}

ReportTable make_table(std::span<const Run> runs, std::vector<std::string> titles) {
  if (runs.empty()) throw std::invalid_argument("a table needs at least one run");
  if (titles.empty()) titles = run_titles(runs);
  if (titles.size() != runs.size())
    throw std::invalid_argument(fmt::format("{} titles for {} runs", titles.size(), runs.size()));
  ReportTable table;
  for (const std::string& title : titles)
    if (std::ranges::find(table.columns, title) == table.columns.end())
      table.columns.push_back(title);
  TableBuilder builder(table, protocols_in_versions(runs));
  for (std::size_t r = 0; r < runs.size(); ++r) {
    builder.add(runs[r], static_cast<std::size_t>(std::ranges::find(table.columns, titles[r]) -
                                                  table.columns.begin()));
    const std::optional<OwnProtocol> own = own_protocol(runs[r]);
    if (own && std::ranges::find(table.own_protocols, own->said) == table.own_protocols.end())
      table.own_protocols.push_back(own->said);
  }
  mark_notes(table);
  return table;
}

}  // namespace facebench
