// Everything that can be asked of an HDF5 file.
// Sources: cpp/eval/facebench/io/hdf5.cc cpp/eval/facebench/io/hdf5_reader.cc
// cpp/eval/facebench/io/hdf5_library_source.cc
//   cpp/eval/facebench/guard/hdf5_driver.cc cpp/eval/facebench/guard/hdf5_texts.cc
//   cpp/eval/facebench/guard/hdf5_chunks.cc
// Not of the reader: h5_type_size open_image_source
#include "facebench/io/hdf5.h"

#include "ask.h"
#include "fuzz.h"
#include "memory_file.h"

namespace {

using facebench::H5Reader;
using facebench::H5Type;

void read_dataset(const H5Reader& file, const std::string& name) {
  ask([&] { file.shape(name); });
  ask([&] { file.type(name); });
  ask_anything([&] { file.has(name); });
  ask([&] { file.dataset_offset(name); });
  ask([&] { file.read_texts(name); });
  ask([&] { file.read_json(name); });
  ask([&] { file.read<float>(name); });
  ask([&] { file.read<double>(name); });
  ask([&] { file.read<std::int32_t>(name, 1); });
  ask([&] { file.read<std::int64_t>(name, 2); });
}

void read_group(const H5Reader& file, const std::string& group, int depth) {
  if (depth > 3) return;
  for (const std::string& name : file.names(group.empty() ? "/" : group)) {
    if (name.empty() || name.find('/') != std::string::npos) continue;
    const std::string path = group + "/" + name;
    ask([&] { read_dataset(file, path); });
    ask([&] { read_group(file, path, depth + 1); });
  }
}

}  // namespace

FACEBENCH_FUZZ_TARGET(hdf5, bytes) {
  const MemoryFile memory(bytes);
  const H5Reader file(memory.path());
  read_group(file, "", 0);
}
