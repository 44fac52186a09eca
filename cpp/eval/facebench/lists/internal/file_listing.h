#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>

namespace facebench {

// A name without what some lists and some archives have in it and others do not: byte order marks,
// and blanks around the parts of a path. Bytes that are not UTF-8 are read as Latin-1.
std::string plain_name(std::string_view name);

// Which files exist, each folder read once: for thousands of files far faster than to ask for each.
// Throws Error for a folder that is there and may not be listed.
class FileListing {
 public:
  // The path below `folder` that is called `name`, or whose plain_name() is that of `name` in NFC;
  // "" where there is none.
  std::filesystem::path find(const std::filesystem::path& folder, std::string_view name);
  bool has(const std::filesystem::path& path);

 private:
  using Entries = std::unordered_map<std::string, std::string>;  // by the name and the plain name
  const Entries& entries(const std::filesystem::path& folder);

  std::unordered_map<std::string, Entries> folders_;
};

}  // namespace facebench
