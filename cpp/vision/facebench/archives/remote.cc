#include "facebench/archives/remote.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "facebench/core/error.h"

namespace facebench {
namespace {

RemoteReader& reader() {
  static RemoteReader set;
  return set;
}

}  // namespace

std::optional<std::string> remote_address(const std::filesystem::path& path) {
  const std::string text = path.string();
  const std::size_t colon = text.find(":/");
  if (colon == std::string::npos || colon < 2) return std::nullopt;
  // A letter, then letters, digits, and what joins them: https, simplecache::s3.
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const bool scheme =
      is_letter(text[0]) &&
      std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' ||
               c == ':';
      });
  std::error_code error;
  if (!scheme || std::filesystem::exists(path, error)) return std::nullopt;
  const std::size_t rest = text.find_first_not_of('/', colon + 1);
  if (rest == std::string::npos) return std::nullopt;
  return text.substr(0, colon) + "://" + text.substr(rest);
}

void set_remote_reader(RemoteReader set) { reader() = std::move(set); }

std::string read_remote(const std::string& address) {
  if (!reader())
    fail(address, "addresses of object stores are read by the Python package, with fsspec",
         "Copy the file here first.");
  return reader()(address);
}

}  // namespace facebench
