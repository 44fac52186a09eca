#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "facebench/io/file.h"
#include "facebench/io/json.h"

namespace facebench {

// HDF5 as facebench uses it: datasets of plain numbers, texts, and JSON as a uint8 dataset (an
// attribute cannot hold more than 64 KiB), in groups where needed ("/all/score"). Every call into
// the library holds one lock for the whole process; its own error output is silenced and put into
// our messages.
//
// A reader checks signature, size, links, type, rank, extent and storage before it touches data, so
// that a damaged file, or one with false sizes, is an Error and not a huge allocation. The HDF5
// library itself may still fail on a malicious file: for files that are not trusted,
// confine_readers() (confine.h) keeps the library out of this process.

enum class H5Type : std::uint8_t { uint8, int32, int64, uint64, float32, float64, text, other };

std::string_view h5_type_name(H5Type type);
// Bytes of one number; 0 for text and other.
std::size_t h5_type_size(H5Type type);

template <class T>
constexpr H5Type h5_type_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return H5Type::uint8;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5Type::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5Type::int64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return H5Type::uint64;
  if constexpr (std::is_same_v<T, float>) return H5Type::float32;
  if constexpr (std::is_same_v<T, double>) return H5Type::float64;
  return H5Type::other;
}

class H5Source;

class H5Reader {
 public:
  // Throws Error where the file is absent, not HDF5, cut short or damaged, and where a child
  // process is asked for and cannot be confined here.
  explicit H5Reader(const std::filesystem::path& path);
  ~H5Reader();
  H5Reader(const H5Reader&) = delete;
  H5Reader& operator=(const H5Reader&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Whether a dataset or group of this name exists.
  bool has(std::string_view name) const;
  // The names in a group, in byte order.
  std::vector<std::string> names(std::string_view group = "/") const;

  // All of these throw Error where there is no such dataset or it cannot be read safely.
  std::vector<std::int64_t> shape(std::string_view name) const;
  H5Type type(std::string_view name) const;
  // The offset of the data in the file, for mapping it: no value if the data is empty or not
  // contiguous. All of its bytes are inside the file.
  std::optional<std::uint64_t> dataset_offset(std::string_view name) const;

  // The whole dataset in row-major order. Throws Error where type or rank are not these (rank -1:
  // any).
  template <class T>
  std::vector<T> read(std::string_view name, int rank = -1) const {
    std::vector<T> values(require(name, h5_type_of<T>(), rank));
    read_all(name, h5_type_of<T>(), values.data(), values.size());
    return values;
  }
  // A one-dimensional dataset of texts, of fixed or variable length. Throws Error for text that is
  // not UTF-8.
  std::vector<std::string> read_texts(std::string_view name) const;
  // A one-dimensional uint8 dataset that holds JSON.
  Json read_json(std::string_view name) const;
  // The datasets and groups that none of the above was asked for, in byte order.
  std::vector<std::string> unread() const;

 private:
  void add_unread(const std::string& group, std::vector<std::string>& found) const;
  // The number of elements, after all checks.
  std::size_t require(std::string_view name, H5Type type, int rank) const;
  void read_all(std::string_view name, H5Type type, void* out, std::size_t elements) const;

  std::filesystem::path path_;
  std::unique_ptr<H5Source> source_;
  mutable std::mutex asking_;
  mutable std::set<std::string, std::less<>> asked_;  // names of datasets
};

// Writes a new file through AtomicFile: until commit() the target is untouched. The same content
// gives the same bytes (fixed format version, no times). Datasets are contiguous, uncompressed,
// allocated when created, and begin at a multiple of 4096 bytes where they are at least that large.
class H5Writer {
 public:
  explicit H5Writer(const std::filesystem::path& target);
  // Discards everything unless commit() was called.
  ~H5Writer();
  H5Writer(const H5Writer&) = delete;
  H5Writer& operator=(const H5Writer&) = delete;

  // Makes room for a dataset, on disk too: throws Error where the disk is full. Groups on the way
  // are made. Not for texts.
  void create_dataset(std::string_view name, H5Type type, const std::vector<std::int64_t>& shape);
  // Rows from `first` on; as many as `values` fill. Throws std::invalid_argument where the type is
  // another or `values` is not a whole number of rows, std::out_of_range beyond the end.
  template <class T>
  void write_rows(std::string_view name, std::int64_t first, std::span<const T> values) {
    write_slice(name, h5_type_of<T>(), first, values.data(), values.size());
  }
  // create_dataset and all rows. Throws std::invalid_argument where the sizes disagree.
  template <class T>
  void write(std::string_view name, std::span<const T> values,
             const std::vector<std::int64_t>& shape) {
    create_dataset(name, h5_type_of<T>(), shape);
    write_all(name, h5_type_of<T>(), values.data(), values.size());
  }
  // Fixed-length UTF-8, padded with NULs. Throws std::invalid_argument for a text with a NUL or
  // that is not UTF-8.
  void write_texts(std::string_view name, std::span<const std::string> values);
  // The same in pieces: room for texts of at most `width` bytes, then rows from `first` on, each
  // once. Throws std::invalid_argument for a longer text, too.
  void create_texts(std::string_view name, std::int64_t rows, std::size_t width);
  void write_text_rows(std::string_view name, std::int64_t first,
                       std::span<const std::string> values);
  // Canonical JSON as uint8.
  void write_json(std::string_view name, const Json& value);

  // Closes, syncs and renames into place. Throws Error (disk full), or std::logic_error where a row
  // of a dataset was never written.
  void commit();

 private:
  struct Dataset {
    H5Type type = H5Type::other;
    std::vector<std::int64_t> shape;
    std::uint64_t row_elements = 1;
    std::size_t width = 0;      // of texts
    std::vector<bool> written;  // by row
  };

  std::string where(std::string_view name) const;
  std::int64_t create(std::string_view name, std::int64_t type, std::size_t element_bytes,
                      const std::vector<std::int64_t>& shape);
  Dataset& require(std::string_view name, H5Type type);
  // Throws std::out_of_range where there are no such rows.
  void require_rows(std::string_view name, const Dataset& dataset, std::int64_t first,
                    std::int64_t count) const;
  void write_selected(std::string_view name, std::int64_t type, Dataset& dataset,
                      std::int64_t first, std::int64_t count, std::uint64_t elements,
                      const void* values);
  void write_all(std::string_view name, H5Type type, const void* values, std::size_t elements);
  void write_slice(std::string_view name, H5Type type, std::int64_t first, const void* values,
                   std::size_t elements);

  AtomicFile atomic_;
  std::int64_t file_ = -1;  // hid_t
  std::map<std::string, Dataset, std::less<>> datasets_;
};

}  // namespace facebench
