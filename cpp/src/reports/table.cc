#include "facebench/reports/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "facebench/core/error.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

double number(const Json& cell, const char* key, double fallback) {
  return cell.contains(key) && cell[key].is_number() ? cell[key].get<double>() : fallback;
}

ReportTable::Cell read_cell(const Json& json, const std::string& where) {
  if (!json.is_object() || !json.contains("value") || !json["value"].is_number())
    fail(where, "a metric has no number as its value", "Run the evaluation again.");
  ReportTable::Cell c;
  c.present = true;
  c.value = json["value"].get<double>();
  if (json.contains("interval") && json["interval"].is_array() && json["interval"].size() == 2 &&
      json["interval"][0].is_number() && json["interval"][1].is_number()) {
    c.has_interval = true;
    c.low = json["interval"][0].get<double>();
    c.high = json["interval"][1].get<double>();
    c.level = number(json, "level", 0);
  }
  if (json.contains("method") && json["method"].is_string())
    c.method = json["method"].get<std::string>();
  c.has_far = json.contains("far_target");
  if (json.contains("reliable") && json["reliable"].is_boolean())
    c.reliable = json["reliable"].get<bool>();
  c.far_achieved = number(json, "far_achieved", 0);
  c.false_accepts = static_cast<std::int64_t>(number(json, "false_accepts", 0));
  c.sd = number(json, "sd", -1);
  c.standard_error = number(json, "standard_error", -1);
  return c;
}

std::string protocol_title(const Json& metrics, const std::string& where) {
  if (!metrics.contains("protocol") || !metrics["protocol"].is_object() ||
      !metrics["protocol"].contains("id") || !metrics["protocol"]["id"].is_string())
    fail(where, "names no protocol", "Run the evaluation again.");
  return metrics["protocol"]["id"].get<std::string>();
}

std::string escape_markdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    if (std::string_view("|\\`*<>").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string escape_latex(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\textbackslash{}";
    else if (c == '~')
      out += "\\textasciitilde{}";
    else if (c == '^')
      out += "\\textasciicircum{}";
    else {
      if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string row_title(const ReportTable::Row& row) {
  return row.protocol + " " + row.track + ": " + metric_title(row.metric);
}

bool any_unreliable(const ReportTable& t) {
  for (const auto& row : t.rows)
    for (const auto& c : row.cells)
      if (c.present && !c.reliable) return true;
  return false;
}

std::string markdown(const ReportTable& t) {
  std::string out = "| % |";
  for (const std::string& run : t.runs) out += " " + escape_markdown(run) + " |";
  out += "\n|---|";
  for (std::size_t i = 0; i < t.runs.size(); ++i) out += "---|";
  out += "\n";
  for (const auto& row : t.rows) {
    out += "| " + escape_markdown(row_title(row)) + " |";
    for (const auto& c : row.cells) out += " " + escape_markdown(cell_text(c)) + " |";
    out += "\n";
  }
  if (any_unreliable(t)) out += fmt::format("\n{}\n", kUnreliableNote);
  return out;
}

std::string csv(const ReportTable& t) {
  std::string out = csv_record({"protocol", "track", "metric", "run", "value", "low", "high",
                                "level", "method", "far_achieved", "false_accepts", "reliable"});
  for (const auto& row : t.rows)
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const auto& c = row.cells[i];
      if (!c.present) continue;
      const auto text = [](bool there, double v) { return there ? fmt::format("{}", v) : ""; };
      out += csv_record({row.protocol, row.track, row.metric, t.runs[i], fmt::format("{}", c.value),
                         text(c.has_interval, c.low), text(c.has_interval, c.high),
                         text(c.has_interval, c.level), c.method, text(c.has_far, c.far_achieved),
                         c.has_far ? fmt::format("{}", c.false_accepts) : "",
                         c.has_far ? (c.reliable ? "true" : "false") : ""});
    }
  return out;
}

std::string latex(const ReportTable& t) {
  std::string out = fmt::format("% needs booktabs\n\\begin{{tabular}}{{l{}}}\n\\toprule\n\\%",
                                std::string(t.runs.size(), 'r'));
  for (const std::string& run : t.runs) out += " & " + escape_latex(run);
  out += " \\\\\n\\midrule\n";
  for (const auto& row : t.rows) {
    out += escape_latex(row_title(row));
    for (const auto& c : row.cells) out += " & " + escape_latex(cell_text(c));
    out += " \\\\\n";
  }
  return out + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace

std::string percent(double value) { return fmt::format("{:.2f}", 100 * value); }

std::string metric_title(const std::string& name) {
  constexpr std::string_view tar = "tar@far=";
  if (name.starts_with(tar)) {
    try {
      return fmt::format("TAR at FAR {:.6g} %", 100 * std::stod(name.substr(tar.size())));
    } catch (const std::exception&) {
      return name;
    }
  }
  if (name == "auc") return "AUC";
  if (name == "eer") return "EER";
  return name;
}

std::string cell_text(const ReportTable::Cell& c) {
  if (!c.present) return "";
  std::string text = percent(c.value);
  if (!c.reliable) text += kUnreliableMark;
  if (c.has_interval) text += fmt::format(" [{}, {}]", percent(c.low), percent(c.high));
  return text;
}

ReportTable make_table(std::span<const Run> runs, std::vector<std::string> titles) {
  if (runs.empty()) throw std::invalid_argument("a table needs at least one run");
  if (titles.empty())
    for (const Run& run : runs)
      titles.push_back(
          std::filesystem::absolute(run.folder).lexically_normal().filename().string());
  if (titles.size() != runs.size())
    throw std::invalid_argument(fmt::format("{} titles for {} runs", titles.size(), runs.size()));
  ReportTable table;
  table.runs = std::move(titles);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const std::string where = (runs[r].folder / "metrics.json").string();
    const std::string protocol = protocol_title(runs[r].metrics, where);
    for (const auto& [track, content] : runs[r].metrics["tracks"].items()) {
      if (!content.is_object() || !content.contains("metrics") || !content["metrics"].is_object())
        fail(where, fmt::format("track {} has no metrics", track));
      for (const auto& [metric, cell] : content["metrics"].items()) {
        auto row = std::ranges::find_if(table.rows, [&](const ReportTable::Row& x) {
          return x.protocol == protocol && x.track == track && x.metric == metric;
        });
        if (row == table.rows.end()) {
          table.rows.push_back({protocol, track, metric, {}});
          row = table.rows.end() - 1;
          row->cells.resize(runs.size());
        }
        row->cells[r] = read_cell(cell, where);
      }
    }
  }
  return table;
}

const Table<ReportFormat>& report_formats() {
  static const Table<ReportFormat> table("report format",
                                         {{"markdown", "a Markdown table", markdown},
                                          {"csv", "one line a number, all digits", csv},
                                          {"latex", "a LaTeX tabular (booktabs)", latex}});
  return table;
}

// What run_report() does; throws nlohmann's exceptions where a part has another type.
static std::string write_run_report(const Run& run) {
  const Json& c = run.manifest.content;
  const auto text = [](const Json& object, const char* key) {
    return object.contains(key) && object[key].is_string()
               ? escape_markdown(object[key].get<std::string>())
               : std::string("?");
  };
  std::string out = fmt::format("# {}\n\n", text(c["protocol"], "title"));
  out += fmt::format("Protocol `{}` version {}, convention `{}`, failed enrolments: `{}`.\n\n",
                     text(c["protocol"], "id"), c["protocol"].value("version", 0),
                     text(c["options"], "convention"), text(c["options"], "failed_enrolments"));
  for (const auto& note : c.value("notes", Json::array()))
    if (note.is_string()) out += "> " + escape_markdown(note.get<std::string>()) + "\n";

  const ReportTable table = make_table(std::span(&run, 1), {"value"});
  bool marked = false;
  for (const auto& [track, content] : run.metrics["tracks"].items()) {
    out += fmt::format("\n## {}\n\n", escape_markdown(track));
    const Json counts = content.value("counts", Json::object());
    const Json more = c["tracks"].value(track, Json::object());
    out += fmt::format(
        "{} comparisons: {} genuine, {} impostor; {} images of {} people. Failed enrolments: {} "
        "({} "
        "comparisons, {} of them left out).\n\n",
        counts.value("comparisons", 0), counts.value("genuine", 0), counts.value("impostor", 0),
        more.value("samples", 0), more.value("identities", 0), counts.value("failed_enrolments", 0),
        more.value("failed_comparisons", 0), more.value("dropped", 0));
    out += "| metric | % | interval | method | behind it |\n|---|---|---|---|---|\n";
    for (const auto& row : table.rows) {
      if (row.track != track) continue;
      const auto& cell = row.cells[0];
      marked |= !cell.reliable;
      std::string behind;
      if (cell.has_far)
        behind = fmt::format("FAR {} %, {} false accepts",
                             fmt::format("{:.4g}", 100 * cell.far_achieved), cell.false_accepts);
      else if (cell.standard_error >= 0)
        behind =
            fmt::format("sd {}, standard error {}", percent(cell.sd), percent(cell.standard_error));
      out +=
          fmt::format("| {} | {}{} | {} | {} | {} |\n", escape_markdown(metric_title(row.metric)),
                      percent(cell.value), cell.reliable ? "" : "\\*",
                      cell.has_interval ? fmt::format("[{}, {}] at {:.4g} %", percent(cell.low),
                                                      percent(cell.high), 100 * cell.level)
                                        : "",
                      escape_markdown(cell.method), behind);
    }
    const Json failed = more.value("failed", Json::array());
    if (!failed.empty()) out += "\nFailed enrolments:\n\n";
    for (const Json& f : failed)
      if (f.is_object()) out += fmt::format("- `{}` {}\n", f.value("name", "?"), text(f, "status"));
  }
  if (marked) out += fmt::format("\n{}\n", kUnreliableNote);
  out += fmt::format("\n## Where it comes from\n\n- facebench {}\n- protocol, SHA-256 {}\n",
                     text(c, "facebench"), text(c["protocol"], "sha256"));
  for (const Json& input : c["inputs"])
    out += fmt::format("- {}, SHA-256 {}\n", text(input, "role"), text(input, "sha256"));
  for (const auto& [file, hash] : c["outputs"].items())
    if (hash.is_string()) out += fmt::format("- {}, SHA-256 {}\n", file, hash.get<std::string>());
  return out;
}

std::string run_report(const Run& run) {
  try {
    return write_run_report(run);
  } catch (const Json::exception& e) {
    fail((run.folder / "run.json").string(), e.what(), "Run the evaluation again.");
  }
}

}  // namespace facebench
