#include "facebench/reports/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "facebench/reports/escape.h"

namespace facebench {
namespace {

// Why cells have no interval, each reason once.
std::set<std::string> reasons_without_interval(const ReportTable& t) {
  constexpr std::string_view none = "none: ";
  std::set<std::string> reasons;
  for (const ReportTable::Row& row : t.rows)
    for (const ReportTable::Cell& c : row.cells)
      if (c.present && c.method.starts_with(none)) reasons.insert(c.method.substr(none.size()));
  return reasons;
}

// Whether the row begins another protocol or track than the row before it.
bool begins_track(const ReportTable& t, std::size_t i) {
  return i == 0 || t.rows[i].protocol != t.rows[i - 1].protocol ||
         t.rows[i].track != t.rows[i - 1].track;
}

std::string markdown(const ReportTable& t) {
  std::string out = "| rates in % |";
  for (const std::string& column : t.columns) out += fmt::format(" {} |", escape_markdown(column));
  out += "\n|---|";
  for (std::size_t i = 0; i < t.columns.size(); ++i) out += "---|";
  out += "\n";
  for (const auto& row : t.rows) {
    out += fmt::format("| {} |",
                       escape_markdown(row.protocol + " " + row.track + ": " + row_title(row)));
    for (const auto& c : row.cells) out += fmt::format(" {} |", escape_markdown(cell_text(row, c)));
    out += "\n";
  }
  if (const std::string note = unreliable_note(t); !note.empty())
    out += fmt::format("\n{}\n", escape_markdown(note));
  for (const std::string& why : reasons_without_interval(t))
    out += fmt::format("\nNo interval: {}.\n", escape_markdown(why));
  return out;
}

// One line a number, empty where there is none; 15 digits, so that .993 is not .9930000000000001.
std::string csv(const ReportTable& t) {
  std::string out =
      spreadsheet_record({"protocol", "track", "metric", "row", "column", "run", "value", "low",
                          "high", "level", "method", "rate", "rate_target", "rate_achieved",
                          "errors", "expected_errors", "reliable", "count", "total"});
  const auto text = [](double v) {
    return std::isnan(v) ? std::string() : fmt::format("{:.15g}", v);
  };
  for (const auto& row : t.rows)
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const auto& c = row.cells[i];
      if (!c.present) continue;
      std::vector<std::string> record = {row.protocol, row.track,    row.metric,   row.row,
                                         row.column,   t.columns[i], text(c.value)};
      const auto add = [&](bool there, const std::string& field) {
        record.push_back(there ? field : "");
      };
      add(c.interval.has_value(), c.interval ? text(c.interval->low) : "");
      add(c.interval.has_value(), c.interval ? text(c.interval->high) : "");
      add(c.interval.has_value(), text(c.level));
      add(true, c.method);
      const ReportTable::Support s = c.support.value_or(ReportTable::Support{});
      const bool there = c.support.has_value();
      add(there, s.rate);
      add(there, text(s.target));
      add(there && s.achieved, text(s.achieved.value_or(0)));
      add(there, fmt::format("{}", s.errors));
      add(there, text(s.expected));
      add(there, s.reliable ? "true" : "false");
      add(c.counted.has_value(), fmt::format("{}", c.counted ? c.counted->count : 0));
      add(c.counted.has_value(), fmt::format("{}", c.counted ? c.counted->total : 0));
      out += spreadsheet_record(record);
    }
  return out;
}

// A heading for each track.
std::string latex(const ReportTable& t) {
  std::string out =
      fmt::format("% needs booktabs\n\\begin{{tabular}}{{l{}}}\n\\toprule\nrates in \\%",
                  std::string(t.columns.size(), 'r'));
  for (const std::string& column : t.columns) out += fmt::format(" & {}", escape_latex(column));
  out += " \\\\\n";
  for (std::size_t i = 0; i < t.rows.size(); ++i) {
    const ReportTable::Row& row = t.rows[i];
    if (begins_track(t, i))
      out += fmt::format("\\midrule\n\\multicolumn{{{}}}{{l}}{{{}, {}}} \\\\\n",
                         t.columns.size() + 1, escape_latex(row.protocol), escape_latex(row.track));
    out += escape_latex(row_title(row));
    for (const auto& c : row.cells) out += fmt::format(" & {}", escape_latex(cell_text(row, c)));
    out += " \\\\\n";
  }
  out += "\\bottomrule\n";
  if (const std::string note = unreliable_note(t); !note.empty())
    out += fmt::format("\\multicolumn{{{}}}{{l}}{{\\footnotesize {}}} \\\\\n", t.columns.size() + 1,
                       escape_latex(note));
  for (const std::string& why : reasons_without_interval(t))
    out += fmt::format("\\multicolumn{{{}}}{{l}}{{\\footnotesize No interval: {}.}} \\\\\n",
                       t.columns.size() + 1, escape_latex(why));
  return out + "\\end{tabular}\n";
}

}  // namespace

const Table<ReportFormat>& report_formats() {
  static const Table<ReportFormat> table("report format",
                                         {{"markdown", "a Markdown table", markdown},
                                          {"csv", "one line a number, 15 digits", csv},
                                          {"latex", "a LaTeX tabular (booktabs)", latex}});
  return table;
}

}  // namespace facebench
