// The lists of every protocol: the name of a protocol or a whole one in TOML, then its files in the
// order of TrialReader::files(), a line "==>" between them. A part that begins with "@NAME" is the
// file of this name.
// Sources: cpp/eval/facebench/lists/agedb_splits.cc
// cpp/eval/facebench/lists/bin_pairs.cc
//   cpp/eval/facebench/lists/blufr.cc cpp/eval/facebench/lists/cfp_pairs.cc
//   cpp/eval/facebench/lists/dfw.cc
//   cpp/eval/facebench/lists/internal/file_listing.cc
//   cpp/eval/facebench/lists/folders.cc cpp/eval/facebench/lists/ijb.cc
//   cpp/eval/facebench/lists/ijba.cc
//   cpp/eval/facebench/lists/ijba_quality.cc
//   cpp/eval/facebench/lists/lfw_pairs.cc
//   cpp/eval/facebench/lists/lfw_people.cc
//   cpp/eval/facebench/lists/internal/list_file.cc
//   cpp/eval/facebench/lists/internal/mask_matrix.cc
//   cpp/eval/facebench/lists/internal/mat_image_list.cc
//   cpp/eval/facebench/lists/mat_search.cc
//   cpp/eval/facebench/lists/internal/number_rows.cc
//   cpp/eval/facebench/lists/internal/pair_collector.cc
//   cpp/eval/facebench/lists/pairs.cc
//   cpp/eval/facebench/lists/internal/sample_names.cc
//   cpp/eval/facebench/lists/survface.cc
//   cpp/eval/facebench/lists/template_list.cc
//   cpp/eval/facebench/lists/internal/template_pairs.cc
//   cpp/eval/facebench/lists/internal/template_rows.cc
//   cpp/eval/facebench/lists/umdfaces.cc
#include <algorithm>

#include "facebench/core/registry.h"
#include "facebench/evaluation/spec.h"
#include "facebench/lists/reader.h"
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
