#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/io/embeddings.h"
#include "facebench/io/file.h"
#include "facebench/io/hdf5.h"

namespace facebench {

// An HDF5 file of embeddings that is read in pieces.
class EmbeddingFile {
 public:
  // Throws Error where it is not one, or its parts disagree.
  explicit EmbeddingFile(const std::filesystem::path& path);

  std::int64_t size() const { return shape_[0]; }
  std::int64_t dim() const { return shape_[1]; }
  const std::vector<std::string>& names() const { return names_; }
  Json manifest() const;
  // All rows, not checked.
  EmbeddingSet all() &&;
  // Rows from `first` on, their numbers checked, without the manifest. They are taken from a mapped
  // file, whose pages are given back, or, of a type or layout that is not mapped, from all of them,
  // which are kept.
  EmbeddingSet rows(std::int64_t first, std::int64_t count);

 private:
  std::vector<float> read_values() const;

  H5Reader file_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> shape_;
  std::vector<SampleStatus> status_;
  std::optional<MappedFile> mapped_;
  std::vector<float> values_;
};

// That each name is UTF-8, not empty and there once (in NFC). `numbers`: their rows of `where`;
// empty: their places. Throws Error as check_embeddings().
void check_names(std::span<const std::string> names, std::span<const std::size_t> numbers,
                 std::string_view where);
// The numbers of one row of a set, which is row `number` of `where`. Throws Error as
// check_embeddings().
void check_embedding(const EmbeddingSet& set, std::size_t i, std::size_t number,
                     std::string_view where);

}  // namespace facebench
