#include "facebench/io/spelled_otherwise.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>

#include "facebench/core/numbers.h"
#include "facebench/core/utf8.h"

namespace facebench {

std::string spelled_otherwise(const std::vector<std::string>& entries,
                              const std::vector<std::string>& people,
                              const std::vector<std::string>& samples) {
  // The last part of a person's name; of a sample's its person's folder, too.
  const auto key = [](std::string_view name, int parts) {
    while (name.ends_with('/')) name.remove_suffix(1);
    std::size_t begin = name.size();
    for (int k = 0; k < parts && begin != std::string_view::npos && begin > 0; ++k)
      begin = name.rfind('/', begin - 1);
    return lower_ascii(begin == std::string_view::npos ? name : name.substr(begin + (begin > 0)));
  };
  std::unordered_map<std::string, const std::string*> known;
  for (const std::string& name : people) known.try_emplace("person " + key(name, 1), &name);
  for (const std::string& name : samples) known.try_emplace("sample " + key(name, 2), &name);
  std::size_t count = 0;
  std::string first;
  for (const std::string& entry : entries) {
    const std::string kind = entry.substr(0, 7), name = entry.substr(7);
    const auto at = known.find(kind + key(name, kind == "person " ? 1 : 2));
    if (at != known.end() && count++ == 0)
      first = fmt::format("{} for {}", printable(*at->second), printable(name));
  }
  if (count == 0) return {};
  return fmt::format(" {} of them are there spelled otherwise, such as {}: write them so.", count,
                     first);
}

}  // namespace facebench
