// Lines of text, their fields and numbers.
// Sources: cpp/eval/facebench/io/text.cc
// Not of the reader: CsvParser next end_of_line take_end_of_line skip_blanks word field quoted
//   check CsvTable has_column column cell integer number read_csv csv_record
#include "facebench/io/text.h"

#include "ask.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(text, bytes) {
  // Lists are short of lines of this length.
  const facebench::TextFile file(std::string(bytes), "fuzz", 1 << 12);
  for (const facebench::TextLine& line : file.lines()) {
    const facebench::Place place = file.place(line);
    for (std::string_view field : facebench::split_whitespace(line.text))
      ask([&] { facebench::parse_int(facebench::trim(field), place, "fuzz"); });
    for (std::string_view field : facebench::split_tabs(line.text))
      facebench::parse_double(facebench::trim(field), place, "fuzz");
  }
}
