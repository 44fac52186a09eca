#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facebench/runs/run_folder.h"

namespace facebench {

// The numbers of several runs side by side: a row for each protocol, track and metric (for each
// entry of a matrix), and one for each track's failures to enrol; a column for each title.
struct ReportTable {
  // The counts behind a rate at a false accept rate, or for identification at a false positive
  // identification rate.
  struct Support {
    std::string rate;  // "FAR", "FPIR"
    double target = 0;
    std::optional<double> achieved;
    std::int64_t errors = 0;  // false accepts, false positives
    double expected = 0;      // target times the comparisons or searches that could make one
    bool reliable = true;     // false: fewer than ten were expected
  };
  struct Bounds {
    double low = 0, high = 0;
  };
  struct Counted {
    std::int64_t count = 0, total = 0;
  };
  struct Cell {
    bool present = false;
    double value = 0;  // NaN where it is undefined
    std::optional<Bounds> interval;
    std::optional<Bounds> bounds;  // bounds from a histogram; not a confidence interval
    double level = 0;
    std::string method;  // of the interval; "none: why" where there could be none
    std::string note;    // of the interval: what its level does not say
    std::string mark;    // of that note in this table: "+", of another note "++"
    std::string rule;    // that the number follows, where it is not its convention's own
    std::optional<Support> support;
    std::optional<Counted> counted;       // of failures to enrol
    double sd = -1, standard_error = -1;  // -1 = not given
  };
  struct Row {
    // The protocol's id; "lfw (version 2)" where the runs have it in several versions, so that
    // their numbers do not stand in one row.
    std::string protocol, track, metric;
    std::string row, column;  // labels of a matrix entry, else empty
    std::vector<Cell> cells;  // one a column
  };
  std::vector<std::string> columns;
  std::vector<Row> rows;
  std::vector<std::string> own_protocols;  // what is said of those that are not facebench's
};

// The names of the runs' models where these tell the runs of a protocol apart, else of their
// folders; a folder's name that another run of the same protocol has already gets a number: "lfw",
// "lfw (2)".
std::vector<std::string> run_titles(std::span<const Run> runs);

// Titles are those of the columns, one a run; empty = run_titles(). Runs of one system
// under several protocols may have the same title, and share its column. Throws
// std::invalid_argument for no runs, another number of titles, and two runs of one protocol under
// one title; Error for numbers that are not numbers.
ReportTable make_table(std::span<const Run> runs, std::vector<std::string> titles = {});

// Whether a metric is printed in percent; a threshold, a similarity and d' are not.
bool metric_is_rate(const std::string& metric);
// A number of that metric as the field prints it: percent with two decimals for rates ("99.37"),
// three decimals for what is none (a similarity, d').
std::string metric_text(const std::string& metric, double value);
// "accuracy", "TAR at FAR 0.1 %".
std::string metric_title(const std::string& metric);
// Order of cells in a table: by name, and of one metric by its target as a number (rank 5 before
// rank 10).
bool metric_before(const std::string& a, const std::string& b);
// The title of a row within its track, with the labels of a matrix entry: "mean similarity, frontal
// - profile".
std::string row_title(const ReportTable::Row& row);
// "99.37 [99.10, 99.60]", with a mark where the cell rests on fewer than ten expected errors,
// another where its interval has a note, its counts and its rule, where that is not its
// convention's: "61.20* [55.00, 67.10]+ (3 at FAR 0.1 %) (rule: exact)".
std::string cell_text(const ReportTable::Row& row, const ReportTable::Cell& cell);

// The table as plain text, for a terminal: aligned columns, the notes below.
std::string table_text(const ReportTable& table);
// All of it, for whoever writes it down in another form: {"columns", "rows": [{"protocol", "track",
// "metric", "row", "column", "title", "quantity", "is_rate", "cells"}], "notes", "no_interval"},
// and "own_protocols" where there are any; "quantity" is the title without the labels of a matrix
// entry. A cell that is not present is null; of the others "text" is cell_text(), "written" the
// texts of its numbers, and "value", "low" and "high" are null where they are undefined.
Json table_json(const ReportTable& table);

}  // namespace facebench
