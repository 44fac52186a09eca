#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace facebench {

// Text that comes from files (names of people, samples, tracks, runs, notes) as part of a report.
// One function a format; HTML is escaped by the template, what a terminal shows by printable(). In
// all of them control characters are shown as printable() does, and line ends become blanks.

// Characters that mean something in Markdown, escaped: no markup, link, image or cell can begin.
std::string escape_markdown(std::string_view text);
// Characters that mean something in LaTeX, escaped.
std::string escape_latex(std::string_view text);
// A record as csv_record() writes it, for spreadsheets: a field that they would take for a formula
// (it begins with =, +, -, @, a tab or a carriage return, and is no number) gets a ' before it.
std::string spreadsheet_record(const std::vector<std::string>& fields);

}  // namespace facebench
