#include "facebench/io/presence.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "facebench/core/error.h"
#include "facebench/io/machine_error.h"

namespace facebench {
namespace {

bool means_absent(int error) { return error == ENOENT || error == ENOTDIR; }

}  // namespace

bool is_there(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (means_absent(errno)) return false;
    fail_errno(path, "see whether this file is there", errno);
  }
  const int how = S_ISDIR(info.st_mode) ? R_OK | X_OK : R_OK;
  if (::eaccess(path.c_str(), how) != 0) fail_errno(path, "read", errno);
  return true;
}

void check_listed(const std::filesystem::path& folder, const std::error_code& error) {
  if (error && !means_absent(error.value())) fail_errno(folder, "list this folder", error.value());
}

}  // namespace facebench
