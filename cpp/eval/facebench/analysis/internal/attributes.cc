#include "facebench/analysis/internal/attributes.h"

#include <fmt/format.h>

#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/core/extension.h"

namespace facebench {

Attributes::Attributes(const std::filesystem::path& path, const std::optional<std::string>& key,
                       const std::optional<std::string>& column)
    : table_(read_csv(path)),
      key_(key ? table_.column(*key) : 0),
      column_(column ? table_.column(*column) : 1) {
  if (table_.columns().size() < 2)
    fail(path.string(), "a table of attributes needs two columns",
         "The first names people or photographs, another gives their groups");
  for (std::size_t row = 0; row < table_.rows(); ++row) {
    const auto [place, fresh] = rows_.emplace(compared_name(table_.cell(row, key_)), row);
    if (!fresh && table_.cell(row, column_) != table_.cell(place->second, column_))
      fail(at_line(path.string(), table_.place(row).line),
           fmt::format("'{}' is here again with another group", place->first),
           "Give each name one group");
  }
}

std::string Attributes::of(const std::string& person, const std::string& unit) {
  for (const std::string& name : {unit, without_extension(unit), person})
    if (const auto found = rows_.find(compared_name(name)); found != rows_.end()) {
      used_.insert(found->second);
      return table_.cell(found->second, column_);
    }
  return {};
}

}  // namespace facebench
