// The lists of every protocol: the name of a protocol or a whole one in TOML, then its files in the
// order of TrialReader::files(), a line "==>" between them. A part that begins with "@NAME" is the
// file of this name.
// Sources: cpp/src/protocols/agedb_splits.cc cpp/src/protocols/bin_pairs.cc
//   cpp/src/protocols/blufr.cc cpp/src/protocols/cfp_pairs.cc
//   cpp/src/protocols/dfw.cc cpp/src/protocols/file_listing.cc cpp/src/protocols/folders.cc
//   cpp/src/protocols/ijb.cc cpp/src/protocols/ijba.cc cpp/src/protocols/ijba_quality.cc
//   cpp/src/protocols/lfw_pairs.cc cpp/src/protocols/lfw_people.cc cpp/src/protocols/list_file.cc
//   cpp/src/protocols/mask_matrix.cc cpp/src/protocols/mat_image_list.cc
//   cpp/src/protocols/mat_search.cc cpp/src/protocols/number_rows.cc
//   cpp/src/protocols/pair_collector.cc cpp/src/protocols/pairs.cc
//   cpp/src/protocols/sample_names.cc cpp/src/protocols/survface.cc
//   cpp/src/protocols/template_list.cc
//   cpp/src/protocols/template_pairs.cc cpp/src/protocols/template_rows.cc
//   cpp/src/protocols/umdfaces.cc
#include <algorithm>

#include "facebench/core/registry.h"
#include "facebench/protocols/reader.h"
#include "facebench/protocols/spec.h"
#include "files.h"
#include "fuzz.h"

namespace {

// A plain path below the folder.
bool is_inside(std::string_view name) {
  return !name.empty() && name.size() < 200 && !name.starts_with('/') &&
         name.find("..") == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

void write_lists(const FuzzFolder& folder, const facebench::TrialReader& reader,
                 const std::vector<std::string_view>& parts) {
  const std::vector<std::string> files = reader.files();
  std::size_t next = 0;
  for (std::size_t k = 1; k < parts.size() && k < 50; ++k) {
    std::string_view bytes = parts[k];
    std::string name;
    if (bytes.starts_with('@')) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size());
      name = bytes.substr(1, end - 1);
      bytes.remove_prefix(std::min(end + 1, bytes.size()));
    } else if (next < files.size()) {
      name = files[next++];
    } else {
      break;
    }
    if (!is_inside(name)) facebench::fail("fuzz", "no name of a file");
    folder.write(name, bytes);
  }
}

}  // namespace

FACEBENCH_FUZZ_TARGET(lists, bytes) {
  static const std::vector<std::string> names = facebench::protocol_names();
  const auto parts = parts_of(bytes);
  const bool known = std::find(names.begin(), names.end(), parts[0]) != names.end();
  const facebench::ProtocolSpec spec = known ? facebench::load_protocol(std::string(parts[0]))
                                             : facebench::parse_protocol(parts[0], "fuzz.toml");
  const FuzzFolder folder("lists");
  write_lists(folder, *spec.reader, parts);
  spec.reader->options();
  spec.reader->missing(folder.path());
  spec.reader->read(folder.path()).check();
}
