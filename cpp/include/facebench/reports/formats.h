#pragma once

#include <string>
#include <string_view>

#include "facebench/core/registry.h"
#include "facebench/reports/table.h"

namespace facebench {

// What a table can be written as.
struct ReportFormat {
  std::string name;
  std::string doc;
  std::string (*write)(const ReportTable&);
};
// "markdown" and "latex" for people, with the text of cell_text(); "csv" with all digits, what each
// number rests on in columns of its own.
const Table<ReportFormat>& report_formats();

}  // namespace facebench
