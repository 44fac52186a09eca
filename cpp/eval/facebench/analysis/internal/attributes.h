#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "facebench/io/text.h"

namespace facebench {

// A table of attributes, by who it names: people, or samples with or without extension. `key` and
// `column` by default the first two. Throws Error.
class Attributes {
 public:
  Attributes(const std::filesystem::path& path, const std::optional<std::string>& key,
             const std::optional<std::string>& column);

  const std::string& column() const { return table_.columns()[column_]; }
  // The group of a unit; "" where the table does not say.
  std::string of(const std::string& person, const std::string& unit);
  std::int64_t unused() const { return static_cast<std::int64_t>(rows_.size() - used_.size()); }

 private:
  CsvTable table_;
  std::size_t key_, column_;
  std::unordered_map<std::string, std::size_t> rows_;
  std::set<std::size_t> used_;
};

}  // namespace facebench
