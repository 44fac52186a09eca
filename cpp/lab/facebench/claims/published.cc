#include "facebench/claims/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "facebench/evaluation/embedded.h"
#include "facebench/io/file.h"
#include "facebench/io/sha256.h"
#include "facebench/io/toml.h"

namespace facebench {
namespace {

constexpr std::uint64_t kMaxBytes = 4 << 20;
constexpr std::string_view kFolder = "published/";

// A word out of a list of them; unknown ones are refused at their line, with "did you mean".
void require_known(const TomlTable& table, std::string_view key, std::string_view kind,
                   const std::string& word, const std::vector<std::string>& known) {
  if (std::ranges::find(known, word) == known.end())
    table.fail_at(key, unknown_name_message(kind, word, known));
}

PublishedColumn read_column(const TomlTable& table) {
  PublishedColumn c;
  c.id = table.text("id");
  c.title = table.text("title");
  c.unit = table.name("unit", published_units());
  c.measures.protocol = table.text("protocol", "");
  if (c.measures.empty()) return c;
  c.measures.track = table.text("track");
  c.measures.metric = table.text("metric");
  c.measures.row = table.text("row", "");
  c.measures.column = table.text("column", "");
  return c;
}

Conditions read_conditions(const TomlTable& table, Conditions conditions) {
  const auto conditions_table = table.optional_table("conditions");
  if (!conditions_table) return conditions;
  for (const std::string& key : conditions_table->keys()) {
    require_known(*conditions_table, key, condition_names().kind(), key, condition_names().names());
    const std::string value = conditions_table->text(key);
    const auto condition =
        std::ranges::find(conditions, key, [](const auto& c) { return c.first; });
    if (condition == conditions.end())
      conditions.emplace_back(key, value);
    else
      condition->second = value;
  }
  return conditions;
}

// "3,141,890" and "29.65"; the digits after the point tell how finely it was printed.
bool read_number(std::string_view printed, PublishedCell& cell) {
  std::string digits;
  std::ranges::copy_if(printed, std::back_inserter(digits), [](char c) { return c != ','; });
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
    return false;
  const std::size_t point = digits.find('.');
  const double decimals =
      point == std::string::npos ? 0 : static_cast<double>(digits.size() - point - 1);
  cell.value = value;
  cell.half_unit = 0.5 * std::pow(10.0, -decimals);
  return true;
}

PublishedRow read_row(const TomlTable& table, const Conditions& shared,
                      const std::vector<PublishedColumn>& columns) {
  PublishedRow row;
  row.name = table.text("name");
  row.conditions = read_conditions(table, shared);
  const std::vector<std::string> values = table.texts("values");
  if (values.size() != columns.size())
    table.fail_at("values", fmt::format("{} values for {} columns", values.size(), columns.size()),
                  "'-' stands for what the table leaves out.");
  for (std::size_t i = 0; i < values.size(); ++i) {
    PublishedCell cell;
    if (values[i] != "-") {
      cell.printed = values[i];
      if (published_units().at(columns[i].unit).number && !read_number(values[i], cell))
        table.fail_at("values",
                      fmt::format("column '{}': '{}' is not a number", columns[i].id, values[i]));
    }
    row.cells.push_back(std::move(cell));
  }
  return row;
}

PublishedErratum read_erratum(const TomlTable& table, const PublishedTable& owner) {
  PublishedErratum e;
  e.kind = table.name("kind", erratum_kinds());
  e.note = table.text("note");
  e.suggests = table.text("suggests", "");
  e.rows = table.texts("rows", {});
  for (const std::string& row : e.rows)
    require_known(table, "rows", "row", row, names_of(owner.rows, &PublishedRow::name));
  e.columns = table.texts("columns", {});
  for (const std::string& column : e.columns)
    require_known(table, "columns", "column", column,
                  names_of(owner.columns, &PublishedColumn::id));
  return e;
}

PublishedTable read_table(const TomlTable& table, const std::vector<PublishedColumn>& known) {
  PublishedTable t;
  t.id = table.text("id");
  t.place = table.text("place");
  t.title = table.text("title");
  t.notes = table.texts("notes", {});
  for (const std::string& id : table.texts("columns")) {
    require_known(table, "columns", "column", id, names_of(known, &PublishedColumn::id));
    t.columns.push_back(item_named("column", known, &PublishedColumn::id, id));
  }
  const Conditions shared = read_conditions(table, {});
  for (const TomlTable& row : table.tables("rows")) {
    t.rows.push_back(read_row(row, shared, t.columns));
    if (std::ranges::count(t.rows, t.rows.back().name, &PublishedRow::name) > 1)
      row.fail_at("name", fmt::format("two rows are called '{}'", t.rows.back().name));
  }
  for (const TomlTable& erratum : table.optional_tables("errata"))
    t.errata.push_back(read_erratum(erratum, t));
  return t;
}

}  // namespace

const Table<ConditionName>& condition_names() {
  static const Table<ConditionName> table(
      "condition", {{"network", "the network, by our name where we have it", true},
                    {"loss", "the loss it was trained with", true},
                    {"training_set", "the data set it was trained on", true},
                    {"training", "the settings it was trained with, by our recipe", false, true},
                    {"detector", "how the faces were found", false, true},
                    {"crop", "how the faces were cut out", false, true},
                    {"flip", "what is done with the mirrored image's embedding", false, true},
                    {"fusion", "how the embeddings of a template became one", false, true},
                    {"tar_at_far", "the rule of TAR at FAR", false, true},
                    {"framework", "the framework it was trained or ran in"},
                    {"test_people", "people of the test sets in the training set: kept or removed"},
                    {"device", "the processor or GPU"},
                    {"devices", "how many of them"},
                    {"batch_size", "images in a step, a device"},
                    {"threads", "threads of the processor"},
                    {"library", "the library of linear algebra"},
                    {"optimizer", "the optimizer"},
                    {"dataset", "the data that was classified"}});
  return table;
}

const Table<UnitName>& published_units() {
  static const Table<UnitName> table("unit", {{"%", "percent", true, 0.01},
                                              {"share", "a share of one"},
                                              {"similarity", "cosine similarity"},
                                              {"count", "a number of things"},
                                              {"million", "millions of things"},
                                              {"images/s", "images a second"},
                                              {"s", "seconds"},
                                              {"MB", "megabytes"},
                                              {"GB", "gigabytes"},
                                              {"GB/s", "gigabytes a second"},
                                              {"Gbps", "gigabits a second and pin"},
                                              {"MHz", "megahertz"},
                                              {"bit", "bits"},
                                              {"text", "no number", false}});
  return table;
}

const Table<ErratumKind>& erratum_kinds() {
  static const Table<ErratumKind> table(
      "kind of erratum",
      {{"duplicate", "the same numbers stand in another row, where they cannot all be measured"},
       {"disagrees", "another place of the same paper prints another number"},
       {"miscomputed", "it does not follow from the numbers that it is made of"},
       {"mislabelled", "it is the number of something else than the label says"},
       {"counted_differently", "the same word is counted by another rule than beside it"},
       {"unstated", "what is needed to measure it again is not stated"},
       {"unresolved", "it rests on too few comparisons to mean what it seems to"}});
  return table;
}

bool PublishedErratum::covers(std::string_view row, std::string_view column) const {
  return (rows.empty() || std::ranges::find(rows, row) != rows.end()) &&
         (columns.empty() || std::ranges::find(columns, column) != columns.end());
}

const PublishedCell& PublishedTable::at(std::string_view row, std::string_view column) const {
  const PublishedColumn& c = item_named("column", columns, &PublishedColumn::id, column);
  return item_named("row", rows, &PublishedRow::name, row)
      .cells[static_cast<std::size_t>(&c - columns.data())];
}

const PublishedTable& Publication::table(std::string_view id) const {
  return item_named("table", tables, &PublishedTable::id, id);
}

Publication parse_publication(std::string_view text, std::string_view file) {
  const TomlTable top = parse_toml(text, file);
  Publication p;
  p.id = top.text("id");
  p.version = top.integer("version");
  p.title = top.text("title");
  p.citation = top.text("citation");
  p.notes = top.texts("notes", {});
  std::vector<PublishedColumn> columns;
  for (const TomlTable& column : top.tables("columns")) {
    columns.push_back(read_column(column));
    if (std::ranges::count(columns, columns.back().id, &PublishedColumn::id) > 1)
      column.fail_at("id", fmt::format("two columns are called '{}'", columns.back().id));
  }
  for (const TomlTable& table : top.tables("tables")) {
    p.tables.push_back(read_table(table, columns));
    if (std::ranges::count(p.tables, p.tables.back().id, &PublishedTable::id) > 1)
      table.fail_at("id", fmt::format("two tables are called '{}'", p.tables.back().id));
  }
  top.finish();
  p.sha256 = sha256_hex(text);
  return p;
}

std::vector<std::string> publication_names() { return embedded_names(kFolder); }

Publication load_publication(const std::string& name_or_path) {
  if (name_or_path.ends_with(".toml"))
    return parse_publication(read_file(name_or_path, kMaxBytes), name_or_path);
  if (const EmbeddedFile* f = find_embedded(std::string(kFolder) + name_or_path))
    return parse_publication(f->text, name_or_path + ".toml");
  throw std::invalid_argument(
      unknown_name_message("published table", name_or_path, publication_names()));
}

std::vector<PublishedValue> published_values(const Publication& publication) {
  std::vector<PublishedValue> values;
  for (const PublishedTable& t : publication.tables)
    for (const PublishedRow& r : t.rows)
      for (std::size_t i = 0; i < r.cells.size(); ++i) {
        if (r.cells[i].printed.empty()) continue;
        PublishedValue v{&t, &r, &t.columns[i], &r.cells[i], {}};
        for (const PublishedErratum& e : t.errata)
          if (e.covers(r.name, t.columns[i].id)) v.errata.push_back(&e);
        values.push_back(std::move(v));
      }
  return values;
}

}  // namespace facebench
