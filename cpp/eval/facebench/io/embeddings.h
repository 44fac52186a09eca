#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "facebench/io/json.h"
#include "facebench/io/sample_status.h"

namespace facebench {

// One vector per sample, and the status of each sample.
struct EmbeddingSet {
  std::int64_t dim = 0;
  std::vector<float> values;         // (N, dim), row-major; zeros where the status is not ok
  std::vector<std::string> names;    // (N) sample ids, each once
  std::vector<SampleStatus> status;  // (N)
  Json manifest = Json::object();    // everything that decided the numbers

  std::size_t size() const { return names.size(); }
  std::span<const float> row(std::size_t i) const {
    return std::span(values).subspan(i * static_cast<std::size_t>(dim),
                                     static_cast<std::size_t>(dim));
  }
};

// Throws std::invalid_argument where the sizes disagree, and Error naming `where` and the row for:
// a number that is NaN or infinite, a failed row that is not zeros, a name that is empty, not UTF-8
// or there twice (as nfc() has it).
void check_embeddings(const EmbeddingSet& set, std::string_view where);

// The file: `/embedding` float32 (N, D) (float64 is read too, and rounded), `/name` text, `/status`
// uint8, `/manifest` JSON. The last two are optional: without them every row is ok, and the
// manifest is empty. Both check the set. Throws Error.
EmbeddingSet read_embeddings(const std::filesystem::path& path);
void write_embeddings(const std::filesystem::path& path, const EmbeddingSet& set);

}  // namespace facebench
