#include "facebench/io/machine_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "facebench/core/utf8.h"

namespace facebench {
namespace {

struct Cause {
  std::string_view advice;
  bool of_the_machine = true;
};

Cause cause_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return {"Free some space and try again"};
    case EFBIG:
      return {"Allow larger files (ulimit -f), or write to another file system"};
    case EMFILE:
      return {"Allow more open files (ulimit -n), or use fewer threads"};
    case ENFILE:
      return {"Close other programs, or allow the system more open files"};
    case EIO:
    case ENOMEM:
      return {};
    case EACCES:
    case EPERM:
    case EROFS:
      return {"Check the permissions", false};
    default:
      return {{}, false};
  }
}

}  // namespace

void fail_errno(const std::filesystem::path& path, std::string_view action, int error) {
  const Cause cause = cause_of(error);
  const std::string what = fmt::format("cannot {}: {}", action, std::strerror(error));
  if (!cause.of_the_machine) fail(path.string(), what, cause.advice);
  const std::string_view stop = cause.advice.empty() ? "" : ". ";
  throw MachineError(printable(fmt::format("{}: {}{}{}", path.string(), what, stop, cause.advice)));
}

}  // namespace facebench
