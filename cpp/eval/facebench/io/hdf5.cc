#include "facebench/io/hdf5.h"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>
#include <type_traits>

#include "facebench/core/error.h"
#include "facebench/io/internal/hdf5_library.h"

namespace facebench {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");
static_assert(std::is_same_v<hid_t, std::int64_t>);

namespace hdf5 {

std::string library_message() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        auto& message = *static_cast<std::string*>(out);
        if (message.empty() && error->desc) message = error->desc;
        return 0;
      },
      &text);
  return text.empty() ? "no reason given" : text;
}

hid_t native_type(H5Type type) {
  if (type >= H5Type::text) throw std::invalid_argument("HDF5: not a type of numbers");
  // In the order of H5Type.
  const hid_t types[] = {H5T_NATIVE_UINT8,  H5T_NATIVE_INT32, H5T_NATIVE_INT64,
                         H5T_NATIVE_UINT64, H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE};
  return types[static_cast<int>(type)];
}

std::vector<std::string> prefixes(std::string_view name) {
  if (name.size() < 2 || name.front() != '/' || name.back() == '/' ||
      name.find("//") != std::string_view::npos)
    throw std::invalid_argument(fmt::format("'{}' is not a dataset's name like '/images'", name));
  std::vector<std::string> result;
  for (std::size_t slash = name.find('/', 1); slash != std::string_view::npos;
       slash = name.find('/', slash + 1))
    result.emplace_back(name.substr(0, slash));
  result.emplace_back(name);
  return result;
}

Id access_properties() {
  Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
  // Our files are replaced, never changed, so locks protect nothing; and they fail on file systems
  // that are read-only or have none.
  H5Pset_file_locking(access, false, true);
#endif
  return access;
}

}  // namespace hdf5

std::string_view h5_type_name(H5Type type) {
  static constexpr std::string_view names[] = {"uint8",   "int32",   "int64", "uint64",
                                               "float32", "float64", "text",  "other"};
  return names[static_cast<int>(type)];
}

std::size_t h5_type_size(H5Type type) {
  static constexpr std::size_t sizes[] = {1, 4, 8, 8, 4, 8, 0, 0};
  return sizes[static_cast<int>(type)];
}

}  // namespace facebench
