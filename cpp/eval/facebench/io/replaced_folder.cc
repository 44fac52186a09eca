#include "facebench/io/replaced_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"

namespace facebench {

namespace fs = std::filesystem;

void refuse_to_lose(const fs::path& folder, std::span<const std::string_view> own) {
  std::vector<std::string> others;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const bool is_folder = it->is_directory(ignored) && !it->is_symlink(ignored);
    const std::string name = it->path().filename().string() + (is_folder ? "/" : "");
    if (std::ranges::find(own, name) == own.end()) others.push_back(printable(name));
  }
  if (others.empty()) return;
  std::ranges::sort(others);
  constexpr std::size_t kNamed = 3;
  const std::size_t more = others.size() - std::min(others.size(), kNamed);
  others.resize(others.size() - more);
  fail(folder.string(),
       fmt::format("holds {}{}, which facebench did not write and would delete",
                   fmt::join(others, ", "), more ? fmt::format(" and {} more", more) : ""),
       "Move it elsewhere, or choose another folder");
}

}  // namespace facebench
