#include "facebench/io/text.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(text, bytes) {
  const facebench::TextFile file(std::string(bytes), "fuzz");
  for (const facebench::TextLine& line : file.lines()) {
    for (std::string_view field : facebench::split_tabs(line.text))
      facebench::parse_double(field, file.place(line));
  }
}
