#include "facebench/protocols/reader.h"

#include <algorithm>

namespace facebench {

#define READER(name) TrialReaderEntry name##_reader();
#include "facebench/protocols/readers/readers.inc"
#undef READER

std::vector<std::string> TrialReader::missing(const std::filesystem::path& lists) const {
  std::vector<std::string> absent = files();
  std::erase_if(absent, [&](const std::string& file) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(lists / file, ignored);
  });
  return absent;
}

const Table<TrialReaderEntry>& trial_readers() {
  static const Table<TrialReaderEntry> table("trial reader", {
#define READER(name) name##_reader(),
#include "facebench/protocols/readers/readers.inc"
#undef READER
                                                             });
  return table;
}

}  // namespace facebench
