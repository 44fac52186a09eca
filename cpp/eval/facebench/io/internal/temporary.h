#pragma once

#include <filesystem>
#include <string_view>

namespace facebench {

// Where a path lies; "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& path);

// A name beside a target that one living process alone writes to: `.NAME.facebench.tmp-` and
// sixteen random hexadecimal digits. Process numbers would not do: in a container they repeat. A
// lock is held as long as the object lives, so that what a killed process left can be told from
// what is being written.
class Temporary {
 public:
  enum class Kind { file, folder };

  // Makes the empty file or folder, and first removes what dead processes left in that folder
  // (looked for once a process). Throws Error.
  Temporary(const std::filesystem::path& target, Kind kind);
  // Removes it, unless kept.
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // It has been renamed, or is to stay.
  void keep() { kept_ = true; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
  bool kept_ = false;
};

// Whether another process writes to this target now.
bool is_being_written(const std::filesystem::path& target, const Temporary& own);

}  // namespace facebench
