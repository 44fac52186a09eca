// The lists of every protocol: the name of a protocol or a whole one in TOML, then its files in the
// order of TrialReader::files(), a line "==>" between them. A part that begins with "@NAME" is the
// file of this name.
// Sources: cpp/eval/facebench/protocols/readers/agedb_splits.cc
// cpp/eval/facebench/protocols/readers/bin_pairs.cc
//   cpp/eval/facebench/protocols/readers/blufr.cc cpp/eval/facebench/protocols/readers/cfp_pairs.cc
//   cpp/eval/facebench/protocols/readers/dfw.cc
//   cpp/eval/facebench/protocols/readers/file_listing.cc
//   cpp/eval/facebench/protocols/readers/folders.cc cpp/eval/facebench/protocols/readers/ijb.cc
//   cpp/eval/facebench/protocols/readers/ijba.cc
//   cpp/eval/facebench/protocols/readers/ijba_quality.cc
//   cpp/eval/facebench/protocols/readers/lfw_pairs.cc
//   cpp/eval/facebench/protocols/readers/lfw_people.cc
//   cpp/eval/facebench/protocols/readers/list_file.cc
//   cpp/eval/facebench/protocols/readers/mask_matrix.cc
//   cpp/eval/facebench/protocols/readers/mat_image_list.cc
//   cpp/eval/facebench/protocols/readers/mat_search.cc
//   cpp/eval/facebench/protocols/readers/number_rows.cc
//   cpp/eval/facebench/protocols/readers/pair_collector.cc
//   cpp/eval/facebench/protocols/readers/pairs.cc
//   cpp/eval/facebench/protocols/readers/sample_names.cc
//   cpp/eval/facebench/protocols/readers/survface.cc
//   cpp/eval/facebench/protocols/readers/template_list.cc
//   cpp/eval/facebench/protocols/readers/template_pairs.cc
//   cpp/eval/facebench/protocols/readers/template_rows.cc
//   cpp/eval/facebench/protocols/readers/umdfaces.cc
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
