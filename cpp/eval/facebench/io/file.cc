#include "facebench/io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/io/internal/temporary.h"
#include "facebench/io/machine_error.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags, mode_t mode = 0)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // Some file systems report a failed write only here.
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

// Opens a regular file for reading. A pipe or a device is refused before anything waits on it.
std::uint64_t regular_file_size(const fs::path& path, const Descriptor& file) {
  if (!file) fail_errno(path, "open", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail_errno(path, "stat", errno);
  if (S_ISDIR(info.st_mode)) fail(path.string(), "is a folder, not a file");
  if (!S_ISREG(info.st_mode)) fail(path.string(), "is not a regular file");
  return static_cast<std::uint64_t>(info.st_size);
}

void sync_path(const fs::path& path, int flags) {
  const Descriptor file(path, O_RDONLY | flags);
  if (!file) fail_errno(path, "open", errno);
  // Some file systems cannot sync a folder and say so; the rename is still atomic there.
  if (::fsync(file.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
    fail_errno(path, "sync", errno);
}

// A trailing slash or dot would leave no name to build the temporary's from.
fs::path cleaned_target(const fs::path& target) {
  fs::path cleaned = target.lexically_normal();
  if (!cleaned.has_filename()) cleaned = cleaned.parent_path();
  if (cleaned.empty() || cleaned.filename() == "." || cleaned.filename() == "..")
    fail(target.string(), "is not a name that can be written to");
  constexpr std::size_t kLongest = 255;
  if (cleaned.filename().native().size() > kLongest)
    fail(target.string(), fmt::format("its name is longer than {} bytes", kLongest),
         "Choose a shorter one");
  return cleaned;
}

// A power cut takes a new folder with all that is in it, however well that is synced, until the
// folder above is synced as well. One that may not be opened is left to the system.
void make_folders(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> made;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, error); at = at.parent_path())
    made.push_back(at);
  fs::create_directories(folder, error);
  if (error) fail(folder.string(), fmt::format("cannot make this folder: {}", error.message()));
  for (const fs::path& at : made)
    if (const Descriptor above(folder_of(at), O_RDONLY | O_DIRECTORY); above) ::fsync(above.get());
}

void rename_path(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_errno(to, "write (rename into place)", errno);
}

// Exchanges two folders in one step: there is no moment at which neither has the name of `to`.
// Where the file system cannot do that, in two.
void exchange(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS)
    fail_errno(to, "write (exchange with the folder that it replaces)", errno);
  const Temporary aside(to, Temporary::Kind::folder);
  rename_path(to, aside.path());
  if (::rename(from.c_str(), to.c_str()) != 0) {
    const int error = errno;
    ::rename(aside.path().c_str(), to.c_str());
    fail_errno(to, "write (rename into place)", error);
  }
  ::rename(aside.path().c_str(), from.c_str());
}

}  // namespace

std::string read_file(const fs::path& path, std::uint64_t max_bytes) {
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);
  const std::uint64_t size = regular_file_size(path, file);
  if (size > max_bytes)
    fail(path.string(), fmt::format("has {} bytes; at most {} are expected here", size, max_bytes));
  std::string bytes(size, '\0');
  std::uint64_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(file.get(), bytes.data() + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(path, "read", errno);
    if (n == 0) fail(path.string(), "became shorter while it was read");
    done += static_cast<std::uint64_t>(n);
  }
  return bytes;
}

void write_file(const fs::path& path, std::string_view bytes) {
  write_file(path, std::span(&bytes, 1));
}

void write_file(const fs::path& path, std::span<const std::string_view> pieces) {
  AtomicFile atomic(path);
  Descriptor file(atomic.temporary(), O_WRONLY | O_TRUNC);
  if (!file) fail_errno(path, "write", errno);
  for (std::string_view bytes : pieces) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(file.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_errno(path, "write", errno);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  if (file.close() != 0) fail_errno(path, "write", errno);
  atomic.commit();
}

AtomicFile::AtomicFile(fs::path target) : target_(cleaned_target(target)) {
  make_folders(folder_of(target_));
  if (fs::is_directory(target_)) fail(target_.string(), "is a folder, not a file");
  temporary_ = std::make_unique<Temporary>(target_, Temporary::Kind::file);
}

AtomicFile::~AtomicFile() = default;

const fs::path& AtomicFile::temporary() const { return temporary_->path(); }

void AtomicFile::commit() {
  if (!open_) throw std::logic_error("AtomicFile::commit: called a second time");
  sync_path(temporary(), 0);
  rename_path(temporary(), target_);
  temporary_->keep();
  open_ = false;
  sync_path(folder_of(target_), O_DIRECTORY);
}

AtomicFolder::AtomicFolder(fs::path target, bool replace)
    : target_(cleaned_target(target)), replace_(replace) {
  make_folders(folder_of(target_));
  const fs::file_status status = fs::symlink_status(target_);
  if (fs::exists(status) && !fs::is_directory(status))
    fail(target_.string(), "exists and is not a folder", "Choose another name");
  if (!replace_ && fs::exists(status) && !fs::is_empty(target_))
    fail(target_.string(), "exists and is not empty",
         "Choose another name, or overwrite it (--overwrite)");
  temporary_ = std::make_unique<Temporary>(target_, Temporary::Kind::folder);
  if (is_being_written(target_, *temporary_))
    fail(target_.string(), "is being written by another process",
         "Choose another name, or wait for it to end");
}

AtomicFolder::~AtomicFolder() = default;

const fs::path& AtomicFolder::temporary() const { return temporary_->path(); }

void AtomicFolder::commit() {
  if (!open_) throw std::logic_error("AtomicFolder::commit: called a second time");
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(temporary())) {
    if (entry.is_symlink()) continue;
    if (entry.is_regular_file()) sync_path(entry.path(), 0);
    if (entry.is_directory()) sync_path(entry.path(), O_DIRECTORY);
  }
  sync_path(temporary(), O_DIRECTORY);
  if (replace_ && fs::exists(target_) && !fs::is_empty(target_)) {
    exchange(temporary(), target_);
    std::error_code error;
    fs::remove_all(temporary(), error);
    if (error)
      fail(temporary().string(), "the replaced folder cannot be removed", "Remove it by hand");
  } else {
    rename_path(temporary(), target_);
  }
  temporary_->keep();
  open_ = false;
  sync_path(folder_of(target_), O_DIRECTORY);
}

MappedFile::MappedFile(const fs::path& path) {
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);
  const std::uint64_t size = regular_file_size(path, file);
  if (size == 0) return;
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) fail_errno(path, "map into memory", errno);
  data_ = static_cast<const std::byte*>(data);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::forget(std::size_t first, std::size_t count) const {
  constexpr std::size_t page = 4096;  // a larger page of the system makes this do nothing
  const std::size_t end = std::min(first + count, size_) / page * page;
  first = (first + page - 1) / page * page;
  if (first < end) ::madvise(const_cast<std::byte*>(data_ + first), end - first, MADV_DONTNEED);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

bool has_ending(const std::filesystem::path& path, std::string_view ending) {
  return lower_ascii(path.filename().string()).ends_with(ending);
}

}  // namespace facebench
