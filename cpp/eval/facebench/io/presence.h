#pragma once

#include <filesystem>
#include <system_error>

namespace facebench {

// A file that is absent can be a fact about a data set (SampleStatus::missing); one that may not be
// read never is.

// Whether a file or folder of this name is there, links followed. Throws Error where that cannot be
// known (no permission on the way, a loop of links, a name that is too long, a failing disk), and
// where it is there and this process may not read it.
bool is_there(const std::filesystem::path& path);
// Whether it is a regular file, or a folder, that this process can see. Nothing is an error.
inline bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}
inline bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}
// Throws Error for an error of listing a folder, other than that it is not there.
void check_listed(const std::filesystem::path& folder, const std::error_code& error);

}  // namespace facebench
