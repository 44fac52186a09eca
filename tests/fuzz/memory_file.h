#pragma once

#include <string_view>

#include "files.h"

// Bytes as a file without a disk, for readers that open what they read. It has a name: HDF5 opens
// none that it cannot find again.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : path_(folder().write("file", bytes)) {}

  const std::filesystem::path& path() const { return path_; }

 private:
  static const FuzzFolder& folder() {
    static const FuzzFolder one("file");
    return one;
  }
  std::filesystem::path path_;
};
