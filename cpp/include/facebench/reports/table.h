#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/protocols/run_folder.h"

namespace facebench {

// The numbers of several runs side by side: a row for each protocol, track and metric, a column for
// each run.
struct ReportTable {
  struct Cell {
    bool present = false;
    double value = 0;
    bool has_interval = false;
    double low = 0, high = 0, level = 0;
    std::string method;
    bool has_far = false;  // a cell at a false accept rate
    bool reliable = true;  // false: fewer than ten false accepts were expected
    double far_achieved = 0;
    std::int64_t false_accepts = 0;
    double sd = -1, standard_error = -1;  // -1 = not given
  };
  struct Row {
    std::string protocol, track, metric;
    std::vector<Cell> cells;  // one a run
  };
  std::vector<std::string> runs;
  std::vector<Row> rows;
};

// Titles are those of the columns; empty = the names of the folders. Throws std::invalid_argument
// for no runs or another number of titles, Error for numbers that are not numbers.
ReportTable make_table(std::span<const Run> runs, std::vector<std::string> titles = {});

// What a table can be written as.
struct ReportFormat {
  std::string name;
  std::string doc;
  std::string (*write)(const ReportTable&);
};
const Table<ReportFormat>& report_formats();

// Percent with two decimals for rates ("99.37"), as the field prints them.
std::string percent(double value);
// "accuracy", "TAR at FAR 0.1 %".
std::string metric_title(const std::string& name);
// "99.37 [99.10, 99.60]", with a mark where the cell rests on fewer than ten expected false
// accepts.
std::string cell_text(const ReportTable::Cell& cell);

// The mark, and the sentence that explains it.
inline constexpr const char* kUnreliableMark = "*";
inline constexpr const char* kUnreliableNote =
    "\\* Fewer than ten false accepts were expected at this rate: the value rests on a handful of "
    "comparisons.";

// report.md of one run: the protocol, the numbers with intervals, the failures, where all comes
// from. Made of the content alone, so equal content gives equal bytes.
std::string run_report(const Run& run);

}  // namespace facebench
