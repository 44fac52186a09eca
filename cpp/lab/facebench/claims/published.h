#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/core/registry.h"

namespace facebench {

// Tables as papers print them, with what each number measures and its known errors. A value is kept
// as printed, digit by digit; an error is given beside it as an erratum.

// What a number measures in the words of our protocols. All empty: no protocol of ours measures it.
struct MeasureAddress {
  std::string protocol, track;
  std::string metric;       // as in metrics.json: "accuracy", "tar@far=0.01"
  std::string row, column;  // labels of a matrix entry, else empty

  bool empty() const { return protocol.empty(); }
  friend bool operator==(const MeasureAddress&, const MeasureAddress&) = default;
};

// What a number was measured with, by the names of condition_names().
using Conditions = std::vector<std::pair<std::string, std::string>>;

struct ConditionName {
  std::string name;
  std::string doc;
  // Whether it decides which system was measured: numbers of other networks, losses and training
  // sets are numbers of something else.
  bool identity = false;
  // Whether a run must be known to have the same where the paper states it: it moves the number.
  bool preparation = false;
};
const Table<ConditionName>& condition_names();

struct UnitName {
  std::string name;
  std::string doc;
  bool number = true;  // "text" is none
  double scale = 1;    // times a value gives what our metrics hold: 0.01 for percent
};
const Table<UnitName>& published_units();

// What can be wrong with a printed value.
struct ErratumKind {
  std::string name;
  std::string doc;
};
const Table<ErratumKind>& erratum_kinds();

struct PublishedColumn {
  std::string id;
  std::string title;
  std::string unit;  // published_units()
  MeasureAddress measures;
};

struct PublishedCell {
  std::string printed;          // "" where the table has a dash
  std::optional<double> value;  // in the column's unit; none for text
  double half_unit = 0;         // half of the last printed digit
};

struct PublishedRow {
  std::string name;
  Conditions conditions;  // the table's too
  std::vector<PublishedCell> cells;
};

struct PublishedErratum {
  std::string kind;  // erratum_kinds()
  std::string note;
  std::string suggests;              // what follows from the paper's other numbers; may be empty
  std::vector<std::string> rows;     // empty = all
  std::vector<std::string> columns;  // ids; empty = all

  bool covers(std::string_view row, std::string_view column) const;
};

struct PublishedTable {
  std::string id;     // "table-3", "throughput"
  std::string place;  // in the paper: "table 3", "section 4.3.2, text"
  std::string title;
  std::vector<std::string> notes;
  std::vector<PublishedColumn> columns;
  std::vector<PublishedRow> rows;
  std::vector<PublishedErratum> errata;

  // Throws std::invalid_argument with "did you mean".
  const PublishedCell& at(std::string_view row, std::string_view column) const;
};

struct Publication {
  std::string id;
  std::int64_t version = 0;
  std::string title;
  std::string citation;
  std::vector<std::string> notes;
  std::vector<PublishedTable> tables;
  std::string sha256;  // of the TOML

  // Throws std::invalid_argument with "did you mean".
  const PublishedTable& table(std::string_view id) const;
};

// The vocabulary is closed: unknown keys, units, conditions, columns, kinds of errata and rows that
// an erratum names are Errors with file, line and "did you mean".
Publication parse_publication(std::string_view text, std::string_view file);

// An embedded one by name ("wang-guo-2019"), or a user's own file (anything that ends in ".toml").
// Throws std::invalid_argument with "did you mean" for a name that does not exist.
Publication load_publication(const std::string& name_or_path);

// Names of the embedded ones, sorted.
std::vector<std::string> publication_names();

// One printed value with all that is known about it. Points into the publication.
struct PublishedValue {
  const PublishedTable* table = nullptr;
  const PublishedRow* row = nullptr;
  const PublishedColumn* column = nullptr;
  const PublishedCell* cell = nullptr;
  std::vector<const PublishedErratum*> errata;
};
// Every cell that is not a dash, in the order of the tables.
std::vector<PublishedValue> published_values(const Publication& publication);

}  // namespace facebench
