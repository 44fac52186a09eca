#pragma once

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/io/text.h"
#include "facebench/trials/blemishes.h"
#include "facebench/trials/trials.h"

namespace facebench {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// A text list as it is meant: UTF-8 without a byte order mark, lines that end in LF without blanks
// before it, no blank lines. What was otherwise is counted.
class ListFile {
 public:
  // `role` is what the manifest calls the list. Throws Error as read_file() and TextFile do.
  ListFile(const std::filesystem::path& path, std::string role, Blemishes& blemishes);

  const std::string& name() const { return text_.name(); }
  const std::vector<TextLine>& lines() const { return lines_; }
  Place place(const TextLine& line) const { return text_.place(line); }
  ListPlace at(const TextLine& line) const { return {name(), line.number, ""}; }
  std::string where(const TextLine& line) const { return at_line(name(), line.number); }
  const TrialList& list() const { return list_; }

 private:
  TrialList list_;
  TextFile text_;
  std::vector<TextLine> lines_;
};

// The same of a CSV file.
struct ListCsv {
  CsvTable table;
  TrialList list;

  ListPlace at(std::size_t row) const { return {table.name(), table.place(row).line, ""}; }
};
ListCsv read_list_csv(const std::filesystem::path& path, std::string role, Blemishes& blemishes,
                      const CsvOptions& options = {});

// A list of numbers, which is too long to be copied. Throws Error for one of more than 1 GiB.
MappedFile map_list(const std::filesystem::path& path);

// Counts a header whose columns of these names come in another order.
void note_column_order(const CsvTable& table, std::initializer_list<std::string_view> official,
                       Blemishes& blemishes);

}  // namespace facebench
