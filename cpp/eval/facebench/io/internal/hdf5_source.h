#pragma once

// The part of a reader that calls the HDF5 library; only for the sources of this floor.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/io/hdf5.h"

namespace facebench {
namespace hdf5 {

// What is known of a dataset once every check was made that does not touch its data.
struct DatasetFacts {
  H5Type type = H5Type::other;
  std::vector<std::int64_t> shape;
  std::uint64_t elements = 1;
  std::optional<std::uint64_t> offset;  // where it lies in the file in one piece
};

}  // namespace hdf5

// All methods are safe to call from several threads and throw Error as H5Reader's do.
class H5Source {
 public:
  virtual ~H5Source() = default;
  virtual bool has(std::string_view name) = 0;
  virtual std::vector<std::string> names(std::string_view group) = 0;
  virtual hdf5::DatasetFacts facts(std::string_view name) = 0;
  // `elements` numbers of type `type` to `out`: the whole dataset, which is as facts() said.
  virtual void read(std::string_view name, H5Type type, void* out, std::uint64_t elements) = 0;
  virtual std::vector<std::string> read_texts(std::string_view name) = 0;
};

namespace hdf5 {

// "FILE: /dataset", for messages.
std::string where(const std::filesystem::path& path, std::string_view name);

// The library, in this process.
std::unique_ptr<H5Source> open_library_source(const std::filesystem::path& path,
                                              std::uint64_t file_size);
// The same for a file that lies in memory, of which no copy is made: `image` has to outlive it.
// Nothing is opened; `path` is for messages.
std::unique_ptr<H5Source> open_image_source(const std::filesystem::path& path,
                                            std::span<const std::byte> image);
// The library in a child process that can do nothing but answer (confined_child.h). Its answers are
// not trusted either: sizes are checked here again. `image`, the file's bytes, need not outlive the
// call.
std::unique_ptr<H5Source> open_confined_source(const std::filesystem::path& path,
                                               std::span<const std::byte> image);

}  // namespace hdf5
}  // namespace facebench
