#pragma once

#include <filesystem>

#include "facebench/core/job.h"

namespace facebench {

// A file that one object at a time holds, in this process or another; the system lets go of it when
// the process dies. The file is empty and stays.
class FileLock {
 public:
  // Makes missing folders, and waits for whoever holds it; job.poll is called meanwhile. Throws
  // Error where the file cannot be made or the file system has no locks.
  explicit FileLock(const std::filesystem::path& path, const Job& job = {});
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace facebench
