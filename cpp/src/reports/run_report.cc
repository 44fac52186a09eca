#include "facebench/reports/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "facebench/core/error.h"
#include "facebench/protocols/convention_choice.h"
#include "facebench/reports/escape.h"
#include "facebench/reports/table.h"

namespace facebench {
namespace {

std::string text(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_string()
             ? escape_markdown(object[key].get<std::string>())
             : std::string("?");
}

std::string interval_text(const ReportTable::Row& row, const ReportTable::Cell& c) {
  if (!c.interval) return "";
  return fmt::format("[{}, {}] at {:.4g} %", metric_text(row.metric, c.interval->low),
                     metric_text(row.metric, c.interval->high), 100 * c.level);
}

std::string behind_text(const ReportTable::Cell& c) {
  if (c.support)
    return fmt::format("{}{} of {:.4g} expected",
                       c.support->achieved ? fmt::format("{} {:.4g} %, ", c.support->rate,
                                                         100 * *c.support->achieved)
                                           : std::string(),
                       c.support->errors, c.support->expected);
  if (c.bounds)
    return fmt::format("from a histogram: {:.4g} to {:.4g}", c.bounds->low, c.bounds->high);
  if (c.counted) return fmt::format("{} of {}", c.counted->count, c.counted->total);
  if (c.standard_error >= 0)
    return fmt::format("sd {:.2f}, standard error {:.2f}", 100 * c.sd, 100 * c.standard_error);
  return "";
}

// The rows that belong to one matrix, as a matrix: template 1 down, template 2 across.
std::string matrix_text(std::span<const ReportTable::Row> entries) {
  std::vector<std::string> rows, columns;
  const auto note = [](std::vector<std::string>& seen, const std::string& label) {
    if (std::ranges::find(seen, label) == seen.end()) seen.push_back(label);
  };
  for (const auto& e : entries) {
    note(rows, e.row);
    note(columns, e.column);
  }
  std::string out =
      fmt::format("\n{}:\n\n| |", escape_markdown(metric_title(entries.front().metric)));
  for (const std::string& c : columns) out += fmt::format(" {} |", escape_markdown(c));
  out += "\n|---|";
  for (std::size_t i = 0; i < columns.size(); ++i) out += "---|";
  out += "\n";
  for (const std::string& r : rows) {
    out += fmt::format("| {} |", escape_markdown(r));
    for (const auto& e : entries)
      if (e.row == r) out += fmt::format(" {} |", escape_markdown(cell_text(e, e.cells[0])));
    out += "\n";
  }
  const ReportTable::Cell& first = entries.front().cells[0];
  if (first.interval)
    out += fmt::format("\nIntervals at {:.4g} %, method {}.\n", 100 * first.level,
                       escape_markdown(first.method));
  return out;
}

std::string counts_text(const Json& counts, const Json& more) {
  std::string out =
      fmt::format("{} comparisons: {} genuine, {} impostor; ", counts.value("comparisons", 0),
                  counts.value("genuine", 0), counts.value("impostor", 0));
  if (const auto templates = more.value("templates", std::int64_t{0}); templates > 0)
    out += fmt::format("{} templates of ", templates);
  out += fmt::format(
      "{} images of {} people. Failed enrolments: {} ({} comparisons, {} of them left "
      "out).",
      more.value("samples", 0), more.value("identities", 0), counts.value("failed_enrolments", 0),
      more.value("failed_comparisons", 0), more.value("dropped", 0));
  return out + "\n\n";
}

std::string failed_text(const Json& more, const char* key, const std::string& heading) {
  const Json failed = more.value(key, Json::array());
  if (failed.empty()) return "";
  std::string out = fmt::format("\n{} ({}):\n\n", heading, failed.size());
  for (const Json& f : failed)
    if (f.is_object()) out += fmt::format("- {}: {}\n", text(f, "name"), text(f, "status"));
  return out;
}

std::string track_text(const ReportTable& table, const std::string& track, const Json& counts,
                       const Json& more) {
  std::string out = fmt::format("\n## {}\n\n", escape_markdown(track)) + counts_text(counts, more);
  std::string numbers, matrices;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const ReportTable::Row& row = table.rows[i];
    if (row.track != track) continue;
    if (!row.row.empty()) {
      std::size_t end = i;
      while (end < table.rows.size() && table.rows[end].metric == row.metric) ++end;
      matrices += matrix_text(std::span(table.rows).subspan(i, end - i));
      i = end - 1;
      continue;
    }
    const ReportTable::Cell& cell = row.cells[0];
    numbers += fmt::format(
        "| {} | {}{} | {} | {} | {} |\n", escape_markdown(row_title(row)),
        metric_text(row.metric, cell.value), cell.support && !cell.support->reliable ? "\\*" : "",
        interval_text(row, cell), escape_markdown(cell.method), behind_text(cell));
  }
  if (!numbers.empty())
    out += "| metric | % | interval | method | counts |\n|---|---|---|---|---|\n" + numbers;
  return out + matrices + failed_text(more, "failed", "Failed enrolments") +
         failed_text(more, "left_out_of_templates", "Images left out of templates");
}

// Throws nlohmann's exceptions where a part has another type.
std::string write_run_report(const Run& run) {
  const Json& c = run.manifest.content;
  std::string out = fmt::format("# {}\n\n", text(c["protocol"], "title"));
  for (const auto& warning : c.value("warnings", Json::array()))
    if (warning.is_string())
      out += "> **Warning:** " + escape_markdown(warning.get<std::string>()) + "\n\n";
  out += fmt::format("Protocol `{}` version {}, convention `{}`, failed enrolments: `{}`.\n\n",
                     text(c["protocol"], "id"), c["protocol"].value("version", 0),
                     escape_markdown(convention_text(c["options"])),
                     text(c["options"], "failed_enrolments"));
  for (const auto& note : c.value("notes", Json::array()))
    if (note.is_string()) out += "> " + escape_markdown(note.get<std::string>()) + "\n";

  const ReportTable table = make_table(std::span(&run, 1), {"value"});
  for (const std::string& track : natural_keys(run.metrics["tracks"]))
    out += track_text(table, track, run.metrics["tracks"][track].value("counts", Json::object()),
                      c["tracks"].value(track, Json::object()));
  if (const std::string note = unreliable_note(table); !note.empty())
    out += fmt::format("\n{}\n", escape_markdown(note));
  out += fmt::format("\n## Provenance\n\n- facebench {}\n- protocol, SHA-256 {}\n",
                     text(c, "facebench"), text(c["protocol"], "sha256"));
  for (const Json& input : c["inputs"])
    out += fmt::format("- {}, SHA-256 {}\n", text(input, "role"), text(input, "sha256"));
  for (const auto& [file, hash] : c["outputs"].items())
    if (hash.is_string())
      out += fmt::format("- {}, SHA-256 {}\n", escape_markdown(file),
                         escape_markdown(hash.get_ref<const std::string&>()));
  return out;
}

}  // namespace

std::string run_report(const Run& run) {
  try {
    return write_run_report(run);
  } catch (const Json::exception& e) {
    fail((run.folder / "run.json").string(), e.what(), "Run the evaluation again.");
  }
}

}  // namespace facebench
