// CSV with every separator, with and without names of columns; records written again are the same.
// Sources: cpp/eval/facebench/io/text.cc
// Not of the reader: TextFile cut trim split_tabs split_whitespace
#include "facebench/io/text.h"

#include <cstdlib>

#include "ask.h"
#include "fuzz.h"

namespace {

using facebench::CsvTable;

void read_cells(const CsvTable& table) {
  for (const std::string& column : table.columns()) {
    ask([&] { table.column(column); });
    if (!table.has_column(column)) std::abort();
  }
  ask([&] { table.column("absent"); });
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t column = 0; column < table.columns().size(); ++column) {
      ask([&] { table.integer(row, column); });
      ask([&] { table.number(row, column); });
    }
  }
}

void write_again(const CsvTable& table, char separator) {
  std::string text = facebench::csv_record(table.columns(), separator);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::vector<std::string> fields;
    for (std::size_t k = 0; k < table.columns().size(); ++k) fields.push_back(table.cell(row, k));
    text += facebench::csv_record(fields, separator);
  }
  const CsvTable again(text, "again", {.separator = separator});
  if (again.columns() != table.columns() || again.rows() != table.rows()) std::abort();
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (std::size_t k = 0; k < table.columns().size(); ++k)
      if (again.cell(row, k) != table.cell(row, k)) std::abort();
}

}  // namespace

FACEBENCH_FUZZ_TARGET(csv, bytes) {
  ask([&] {
    const CsvTable table(std::string(bytes), "fuzz", {.separator = facebench::kBlanks});
    read_cells(table);
  });
  ask([&] { const CsvTable table(std::string(bytes), "fuzz", {.header = false}); });
  ask([&] { write_again(CsvTable(std::string(bytes), "fuzz", {.separator = ';'}), ';'); });
  const CsvTable table(std::string(bytes), "fuzz");
  ask_anything([&] { table.cell(table.rows(), 0); });
  read_cells(table);
  write_again(table, ',');
}
