#include "facebench/io/internal/temporary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/io/machine_error.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// No other program gives names with it: what bears it may be removed.
constexpr std::string_view kMark = ".facebench.tmp-";
constexpr std::size_t kDigits = 16;
// What remains of a name of 255 bytes, the most that file systems take.
constexpr std::size_t kLongestName = 255 - kMark.size() - kDigits - 1;

// `.NAME.facebench.tmp-`
std::string prefix_for(const fs::path& target) {
  return fmt::format(".{}{}", target.filename().string().substr(0, kLongestName), kMark);
}

std::string random_digits() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    fail("this system", fmt::format("gives no random numbers: {}", std::strerror(errno)));
  return fmt::format("{:016x}", number);
}

// `.NAME.facebench.tmp-` and sixteen digits.
bool is_temporary_name(std::string_view name) {
  const std::size_t at = name.rfind(kMark);
  if (name.empty() || name.front() != '.' || at == std::string_view::npos || at < 2) return false;
  const std::string_view rest = name.substr(at + kMark.size());
  return rest.size() == kDigits && rest.find_first_not_of("0123456789abcdef") == rest.npos;
}

// A file is locked by its open description, which does not stand in the way of HDF5's own lock; a
// folder, which cannot be opened for writing, in the older manner.
bool lock(int descriptor, Temporary::Kind kind, bool wait) {
  int result;
  do {
    if (kind == Temporary::Kind::folder) {
      result = ::flock(descriptor, wait ? LOCK_EX : LOCK_EX | LOCK_NB);
    } else {
      struct flock whole {};
      whole.l_type = F_WRLCK;
      whole.l_whence = SEEK_SET;
      result = ::fcntl(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &whole);
    }
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

int open_for_lock(const fs::path& path, Temporary::Kind kind, int more = 0) {
  const int flags = kind == Temporary::Kind::folder ? O_RDONLY | O_DIRECTORY : O_RDWR | more;
  return ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0666);
}

Temporary::Kind kind_of(const fs::directory_entry& entry) {
  return entry.is_directory() ? Temporary::Kind::folder : Temporary::Kind::file;
}

// Temporaries of ours in a folder, by the names that begin with `prefix`. None where the folder
// cannot be read.
std::vector<fs::directory_entry> temporaries_in(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::directory_entry> temporaries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(prefix) && is_temporary_name(name) && !it->is_symlink(error) &&
        (it->is_regular_file(error) || it->is_directory(error)))
      temporaries.push_back(*it);
  }
  return temporaries;
}

// Removes what nobody holds. A file system without locks says so of every file: nothing is removed.
void remove_stale(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> seen;
  {
    const std::lock_guard guard(mutex);
    if (!seen.insert(fs::absolute(folder).lexically_normal()).second) return;
  }
  for (const fs::directory_entry& entry : temporaries_in(folder, ".")) {
    const int descriptor = open_for_lock(entry.path(), kind_of(entry));
    if (descriptor < 0) continue;
    std::error_code ignored;
    if (lock(descriptor, kind_of(entry), false)) fs::remove_all(entry.path(), ignored);
    ::close(descriptor);
  }
}

}  // namespace

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

Temporary::Temporary(const fs::path& target, Kind kind) {
  const fs::path folder = folder_of(target);
  remove_stale(folder);
  while (true) {
    path_ = folder / (prefix_for(target) + random_digits());
    if (kind == Kind::folder && ::mkdir(path_.c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;
      fail_errno(target, "write", errno);
    }
    lock_ = open_for_lock(path_, kind, O_CREAT | O_EXCL);
    if (lock_ < 0 && (errno == EEXIST || (kind == Kind::folder && errno == ENOENT))) continue;
    if (lock_ < 0) {
      const int error = errno;
      if (kind == Kind::folder) ::rmdir(path_.c_str());
      fail_errno(target, "write", error);
    }
    lock(lock_, kind, true);
    // Between the two calls another process may have taken it for one of a dead process.
    struct stat info {};
    if (::fstat(lock_, &info) == 0 && info.st_nlink > 0 && fs::exists(path_)) return;
    ::close(lock_);
  }
}

Temporary::~Temporary() {
  ::close(lock_);  // first: removing a folder takes a descriptor, and this may have been the last
  std::error_code ignored;
  if (!kept_ && !fs::remove(path_, ignored)) fs::remove_all(path_, ignored);
}

bool is_being_written(const fs::path& target, const Temporary& own) {
  return std::ranges::any_of(
      temporaries_in(folder_of(target), prefix_for(target)), [&](const fs::directory_entry& entry) {
        if (entry.path().filename() == own.path().filename()) return false;
        const int descriptor = open_for_lock(entry.path(), kind_of(entry));
        if (descriptor < 0) return false;
        const bool free = lock(descriptor, kind_of(entry), false);
        const bool held = !free && (errno == EAGAIN || errno == EACCES || errno == EWOULDBLOCK);
        ::close(descriptor);
        return held;
      });
}

}  // namespace facebench
