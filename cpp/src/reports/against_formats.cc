#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "facebench/reports/against.h"
#include "facebench/reports/escape.h"
#include "facebench/reports/formats.h"

namespace facebench {
namespace {

// Numbers the errata of the values that stand side by side, in the order of their first mention.
class Footnotes {
 public:
  // " [1, 3]", or "".
  std::string marks(const PublishedValue& value) {
    std::string text;
    for (const PublishedErratum* e : value.errata) {
      auto found = std::ranges::find(errata_, e);
      if (found == errata_.end()) found = errata_.insert(errata_.end(), e);
      text += fmt::format("{}{}", text.empty() ? " [" : ", ", found - errata_.begin() + 1);
    }
    return text.empty() ? text : text + "]";
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> result;
    for (const PublishedErratum* e : errata_)
      result.push_back(fmt::format(
          "[{}] {}: {}{}", result.size() + 1, e->kind, e->note,
          e->suggests.empty() ? "" : fmt::format(" Following from the rest: {}.", e->suggests)));
    return result;
  }

 private:
  std::vector<const PublishedErratum*> errata_;
};

std::string run_and_number(const Against& a, const AgainstMatch& m) {
  const ReportTable::Row& row = a.table.rows[m.row];
  return fmt::format("{} {}: {}", row.protocol, row.track, row_title(row));
}

std::string stated_text(const Against& a) {
  std::string text;
  for (const auto& [name, value] : a.stated)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

// How many values of each table the runs do not measure, and which protocols measure them.
struct Missing {
  const PublishedTable* table;
  std::size_t values = 0;
  std::vector<std::string> protocols;
};
std::vector<Missing> missing_by_table(const Against& a) {
  std::vector<Missing> result;
  for (const PublishedValue& v : a.not_measured) {
    if (result.empty() || result.back().table != v.table) result.push_back({v.table, 0, {}});
    Missing& m = result.back();
    ++m.values;
    const std::string& protocol = v.column->measures.protocol;
    if (!protocol.empty() && std::ranges::find(m.protocols, protocol) == m.protocols.end())
      m.protocols.push_back(protocol);
  }
  return result;
}

std::string under(const Missing& m) {
  if (m.protocols.empty()) return "which no protocol measures";
  std::string text;
  for (const std::string& p : m.protocols) text += (text.empty() ? "under " : ", ") + p;
  return text;
}

// How a format writes a line of a table.
struct LineStyle {
  std::string (*escape)(std::string_view);
  std::string_view begin, between, end, no_interval;
};

// A line for each printed value of the same system.
std::string same_lines(const Against& a, const LineStyle& style, Footnotes& notes) {
  std::string lines;
  for (const AgainstMatch& m : a.matches) {
    if (!m.same()) continue;
    const ReportTable::Row& row = a.table.rows[m.row];
    const std::vector<std::string> cells = {
        run_and_number(a, m),
        a.table.columns[m.column],
        cell_text(row, row.cells[m.column]),
        published_text(m.published) + notes.marks(m.published),
        difference_text(m),
        m.lies.empty() ? std::string(style.no_interval) : m.lies,
        published_source(m.published)};
    std::string_view before = style.begin;
    for (const std::string& cell : cells) {
      lines += fmt::format("{}{}", before, style.escape(cell));
      before = style.between;
    }
    lines += style.end;
  }
  return lines;
}

std::string same_markdown(const Against& a) {
  Footnotes notes;
  const std::string lines =
      same_lines(a, {escape_markdown, "| ", " | ", " |\n", "no interval"}, notes);
  if (lines.empty())
    return "No printed value is of the same system: see the differences below. State what the "
           "manifest does not record (loss, training set).\n";
  std::string out =
      "| number | run | ours, % | printed | difference | printed vs. our interval | "
      "where |\n|---|---|---|---|---|---|---|\n" +
      lines;
  for (const std::string& line : notes.lines()) out += fmt::format("\n{}\n", escape_markdown(line));
  return out;
}

// What keeps every value of a run from matching, once: the conditions that nothing says of it.
std::string unknown_markdown(const Against& a) {
  std::map<std::string, std::set<std::string>> unknown;  // by run
  for (const AgainstMatch& m : a.matches)
    unknown[a.table.columns[m.column]].insert(m.unknown.begin(), m.unknown.end());
  std::string out;
  for (const auto& [run, names] : unknown)
    if (!names.empty())
      out += fmt::format(
          "\nNot known of {}, so what depends on it cannot match: {}. State it with "
          "--as NAME=VALUE.\n",
          escape_markdown(run), fmt::join(names, ", "));
  return out;
}

std::string other_markdown(const Against& a) {
  const std::vector<std::size_t> others = a.others();
  const std::size_t shown = a.listed == 0 ? others.size() : std::min(a.listed, others.size());
  std::string out;
  for (std::size_t k = 0; k < shown; ++k) {
    const AgainstMatch& m = a.matches[others[k]];
    const ReportTable::Row& row = a.table.rows[m.row];
    out += fmt::format(
        "- {}, {}: {}; {} {}{}\n", escape_markdown(run_and_number(a, m)),
        escape_markdown(a.table.columns[m.column]),
        escape_markdown(cell_text(row, row.cells[m.column])), published_text(m.published),
        escape_markdown(published_source(m.published)),
        m.differs.empty() ? "" : escape_markdown(fmt::format(" ({})", fmt::join(m.differs, "; "))));
  }
  if (shown < others.size())
    out += fmt::format("\nThese are the {} nearest of {}; --all lists the others too.\n", shown,
                       others.size());
  return out;
}

std::string markdown(const Against& a) {
  std::string out = fmt::format("## Beside {}\n\n{}\n\n", escape_markdown(a.publication->id),
                                escape_markdown(a.publication->citation));
  if (!a.stated.empty())
    out += fmt::format("Stated by the caller, not found in a manifest: {}.\n\n",
                       escape_markdown(stated_text(a)));
  out += "### The same measure of the same system\n\n" + same_markdown(a);
  if (const std::string other = other_markdown(a); !other.empty())
    out += "\n### The same measure of other systems\n" + unknown_markdown(a) + "\n" + other;
  if (!a.not_measured.empty()) {
    out += "\n### Not measured by these runs\n\n";
    for (const Missing& m : missing_by_table(a))
      out += fmt::format("- {} ({}): {} values, {}\n", escape_markdown(m.table->place),
                         escape_markdown(m.table->title), m.values, escape_markdown(under(m)));
  }
  return out;
}

std::string csv(const Against& a) {
  std::string out =
      spreadsheet_record({"publication",    "table",   "published_row", "published_column",
                          "conditions",     "printed", "unit",          "published",
                          "protocol",       "track",   "metric",        "row",
                          "column",         "match",   "differs",       "run",
                          "value",          "low",     "high",          "difference",
                          "published_lies", "errata"});
  const auto number = [](double v) { return std::isnan(v) ? std::string() : fmt::format("{}", v); };
  const auto begin = [&](const PublishedValue& v) {
    std::string conditions;
    for (const auto& [name, value] : v.row->conditions)
      conditions += fmt::format("{}{}={}", conditions.empty() ? "" : "; ", name, value);
    const MeasureAddress& m = v.column->measures;
    return std::vector<std::string>{a.publication->id, v.table->id,
                                    v.row->name,       v.column->id,
                                    conditions,        v.cell->printed,
                                    v.column->unit,    v.cell->value ? number(*v.cell->value) : "",
                                    m.protocol,        m.track,
                                    m.metric,          m.row,
                                    m.column};
  };
  const auto errata = [](const PublishedValue& v) {
    std::string text;
    for (const PublishedErratum* e : v.errata)
      text += fmt::format("{}{}: {}", text.empty() ? "" : " ", e->kind, e->note);
    return text;
  };
  for (const AgainstMatch& m : a.matches) {
    const ReportTable::Cell& cell = a.table.rows[m.row].cells[m.column];
    std::string differs;
    for (const std::string& d : m.differs) differs += (differs.empty() ? "" : "; ") + d;
    for (const std::string& name : m.unknown)
      differs += fmt::format("{}{} is not known of the run", differs.empty() ? "" : "; ", name);
    std::vector<std::string> record = begin(m.published);
    record.insert(record.end(),
                  {m.same() ? "same" : "other_system", differs, a.table.columns[m.column],
                   number(cell.value), cell.interval ? number(cell.interval->low) : "",
                   cell.interval ? number(cell.interval->high) : "", number(m.difference), m.lies,
                   errata(m.published)});
    out += spreadsheet_record(record);
  }
  for (const PublishedValue& v : a.not_measured) {
    std::vector<std::string> record = begin(v);
    record.insert(record.end(), {"not_measured", "", "", "", "", "", "", "", errata(v)});
    out += spreadsheet_record(record);
  }
  return out;
}

std::string latex(const Against& a) {
  Footnotes notes;
  const std::string lines = same_lines(a, {escape_latex, "", " & ", " \\\\\n", "--"}, notes);
  std::string out = fmt::format(
      "% needs booktabs\n\\begin{{tabular}}{{llrrrll}}\n\\toprule\nnumber & run & ours & {} & "
      "difference & vs. interval & where \\\\\n\\midrule\n{}\\bottomrule\n",
      escape_latex(a.publication->id),
      lines.empty() ? "\\multicolumn{7}{l}{no printed value is of the same system} \\\\\n" : lines);
  for (const std::string& line : notes.lines())
    out += fmt::format("\\multicolumn{{7}}{{p{{\\linewidth}}}}{{\\footnotesize {}}} \\\\\n",
                       escape_latex(line));
  out += "\\end{tabular}\n";
  for (const Missing& m : missing_by_table(a))
    out += fmt::format("% not measured: {}, {} values, {}\n", m.table->place, m.values, under(m));
  return out;
}

std::string json(const Against& a) { return pretty_json(against_json(a)); }

}  // namespace

const Table<AgainstFormat>& against_formats() {
  static const Table<AgainstFormat> table(
      "report format", {{"markdown", "Markdown tables", markdown},
                        {"csv", "one line a printed value and run, all digits", csv},
                        {"latex", "a LaTeX tabular (booktabs)", latex},
                        {"json", "everything", json}});
  return table;
}

}  // namespace facebench
