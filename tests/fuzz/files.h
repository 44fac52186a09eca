#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/error.h"

// The parts of an input that stands for several files: a line "==>" is between them.
inline std::vector<std::string_view> parts_of(std::string_view bytes) {
  constexpr std::string_view kBetween = "\n==>\n";
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = bytes.find(kBetween)) != std::string_view::npos;
       bytes.remove_prefix(end + kBetween.size()))
    parts.push_back(bytes.substr(0, end));
  parts.push_back(bytes);
  return parts;
}

// A folder in memory, where the system has one, that goes away with the process.
class FuzzFolder {
 public:
  explicit FuzzFolder(const std::string& name) {
    const std::filesystem::path memory = "/dev/shm";
    path_ =
        (std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path()) /
        ("facebench-fuzz-" + name + "-" + std::to_string(static_cast<long>(::getpid())));
    std::filesystem::create_directories(path_);
  }
  ~FuzzFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FuzzFolder(const FuzzFolder&) = delete;
  FuzzFolder& operator=(const FuzzFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    // An input may name a file's folder as a file before.
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error) facebench::fail("fuzz", "no name of a file");
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

 private:
  std::filesystem::path path_;
};
