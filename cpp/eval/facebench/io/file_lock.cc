#include "facebench/io/file_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "facebench/core/error.h"
#include "facebench/io/internal/temporary.h"
#include "facebench/io/machine_error.h"

namespace facebench {
namespace {

// 0, or the error. The lock belongs to the open file, so that two objects of one process are two.
int try_lock(int descriptor) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(descriptor, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
}

// Closes it where the constructor does not end.
struct Closing {
  int descriptor;
  ~Closing() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

}  // namespace

FileLock::FileLock(const std::filesystem::path& path, const Job& job) {
  std::error_code error;
  std::filesystem::create_directories(folder_of(path), error);
  if (error) fail(folder_of(path).string(), "cannot make this folder: " + error.message());
  Closing file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)};
  if (file.descriptor < 0) fail_errno(path, "write", errno);
  constexpr std::chrono::milliseconds pause(50);
  for (int refused = try_lock(file.descriptor); refused != 0; refused = try_lock(file.descriptor)) {
    if (refused != EAGAIN && refused != EACCES && refused != EINTR)
      fail_errno(path, "lock", refused);
    job.check();
    std::this_thread::sleep_for(pause);
  }
  descriptor_ = file.descriptor;
  file.descriptor = -1;
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace facebench
