#include "facebench/io/embeddings.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "facebench/io/embedding_file.h"

namespace facebench {

void check_embeddings(const EmbeddingSet& set, std::string_view where) {
  const std::size_t n = set.names.size();
  if (set.dim <= 0 || set.status.size() != n ||
      set.values.size() != n * static_cast<std::size_t>(set.dim))
    throw std::invalid_argument(
        fmt::format("embeddings: {} names, {} statuses and {} numbers do not make rows of {}", n,
                    set.status.size(), set.values.size(), set.dim));
  check_names(set.names, {}, where);
  for (std::size_t i = 0; i < n; ++i) check_embedding(set, i, i, where);
}

EmbeddingSet read_embeddings(const std::filesystem::path& path) {
  EmbeddingSet set = EmbeddingFile(path).all();
  check_embeddings(set, path.string());
  return set;
}

void write_embeddings(const std::filesystem::path& path, const EmbeddingSet& set) {
  check_embeddings(set, path.string());
  H5Writer file(path);
  const auto n = static_cast<std::int64_t>(set.size());
  std::vector<std::uint8_t> status(set.size());
  std::transform(set.status.begin(), set.status.end(), status.begin(),
                 [](SampleStatus s) { return static_cast<std::uint8_t>(s); });
  file.write<float>("/embedding", set.values, {n, set.dim});
  file.write_texts("/name", set.names);
  file.write<std::uint8_t>("/status", status, {n});
  file.write_json("/manifest", set.manifest);
  file.commit();
}

}  // namespace facebench
