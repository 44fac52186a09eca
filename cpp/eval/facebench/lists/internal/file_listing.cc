#include "facebench/lists/internal/file_listing.h"

#include <algorithm>

#include "facebench/core/compared_name.h"
#include "facebench/core/utf8.h"
#include "facebench/io/presence.h"
#include "facebench/io/text.h"
#include "facebench/lists/internal/latin_1.h"

namespace facebench {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";

}  // namespace

std::string plain_name(std::string_view name) {
  std::string text = is_utf8(name) ? std::string(name) : from_latin_1(name);
  for (std::size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at))
    text.erase(at, kMark.size());
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    if (begin > 0) result += '/';
    result += trim(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

const FileListing::Entries& FileListing::entries(const std::filesystem::path& folder) {
  const auto [at, fresh] = folders_.try_emplace(folder.string());
  if (fresh) {
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
      std::string name = it->path().filename().string();
      at->second.try_emplace(compared_name(plain_name(name)), name);
      at->second.insert_or_assign(name, name);
    }
    check_listed(folder, error);  // one that is not there holds nothing
  }
  return at->second;
}

std::filesystem::path FileListing::find(const std::filesystem::path& folder,
                                        std::string_view name) {
  std::filesystem::path path = folder;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part(name.substr(begin, end - begin));
    const Entries& here = entries(path);
    auto found = here.find(part);
    if (found == here.end()) found = here.find(compared_name(plain_name(part)));
    if (found == here.end()) return {};
    path /= found->second;
    begin = end + 1;
  }
  return path;
}

bool FileListing::has(const std::filesystem::path& path) {
  const Entries& here = entries(path.parent_path());
  const auto found = here.find(path.filename().string());
  return found != here.end() && found->second == found->first;
}

}  // namespace facebench
