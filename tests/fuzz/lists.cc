// The lists of every protocol: the name of a protocol, then its files in the order of
// TrialReader::files(), a line "==>" between them.
#include "facebench/core/registry.h"
#include "facebench/protocols/reader.h"
#include "facebench/protocols/spec.h"
#include "files.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(lists, bytes) {
  static const std::vector<std::string> names = facebench::protocol_names();
  const auto parts = parts_of(bytes);
  if (std::find(names.begin(), names.end(), parts[0]) == names.end())
    facebench::fail("fuzz", "no protocol");
  const facebench::ProtocolSpec spec = facebench::load_protocol(std::string(parts[0]));
  const FuzzFolder folder("lists");
  const std::vector<std::string> files = spec.reader->files();
  for (std::size_t k = 1; k < parts.size() && k <= files.size(); ++k)
    folder.write(files[k - 1], parts[k]);
  spec.reader->read(folder.path()).check();
}
