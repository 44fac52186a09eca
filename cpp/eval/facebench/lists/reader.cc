#include "facebench/lists/reader.h"

#include <stdexcept>

#include "facebench/io/presence.h"

namespace facebench {

#define READER(name) TrialReaderEntry name##_reader();
#include "facebench/lists/internal/readers.inc"
#undef READER

std::vector<std::string> TrialReader::missing(const std::filesystem::path& lists) const {
  return absent_of(files(), lists);
}

TrialSet TrialReader::of_people(std::span<const std::string>, std::span<const std::string>) const {
  throw std::invalid_argument(
      "labels: the protocol's lists say who is on an image; labels go with a protocol of people of "
      "one's own, such as folders");
}

std::vector<std::string> absent_of(std::vector<std::string> files,
                                   const std::filesystem::path& lists) {
  std::erase_if(files, [&](const std::string& file) { return is_file(lists / file); });
  return files;
}

const Table<TrialReaderEntry>& trial_readers() {
  static const Table<TrialReaderEntry> table("trial reader", {
#define READER(name) name##_reader(),
#include "facebench/lists/internal/readers.inc"
#undef READER
                                                             });
  return table;
}

}  // namespace facebench
