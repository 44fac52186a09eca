#include "facebench/guard/internal/confinement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/io/confine.h"

namespace facebench {
namespace {

[[noreturn]] void refuse(const char* what) {
  fail("confining a process", fmt::format("{}: {}", what, std::strerror(errno)),
       "Where that is not allowed, read the file on a machine or in a container of its own");
}

void limit(int resource, std::uint64_t value, const char* what) {
  const rlimit most{value, value};
  // An existing limit may be lower already; it may not be raised.
  rlimit now{};
  if (getrlimit(resource, &now) != 0) refuse(what);
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < value) return;
  if (setrlimit(resource, &most) != 0) refuse(what);
}

// Bytes of address space in use.
std::uint64_t address_space() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  if (pages == 0) refuse("/proc/self/statm cannot be read");
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Of the flags of open().
constexpr std::uint32_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kMachine = 0;
#endif

// A program for the kernel, one rule after the other; what no rule allows is refused.
class SystemCalls {
 public:
  SystemCalls() {
    load(offsetof(seccomp_data, arch));
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0));
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    load(offsetof(seccomp_data, nr));
  }
  void allow(long call) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number(call), 0, 1));
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  // Where an argument has none of these bits.
  void allow_without(long call, int argument, std::uint32_t bits) {
    allow_where(call, argument, BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0));
  }
  // Where an argument has this value.
  void allow_with(long call, int argument, std::uint32_t value) {
    allow_where(call, argument, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
  }
  // What a process needs that computes: memory, but no code made at run time, locks, its end.
  void allow_computing() {
    for (const long call : {SYS_close, SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_futex,
                            SYS_clock_gettime, SYS_getrandom, SYS_sched_yield, SYS_rt_sigreturn,
                            SYS_rt_sigprocmask, SYS_exit, SYS_exit_group})
      allow(call);
    allow_without(SYS_mmap, 2, PROT_EXEC);
    allow_without(SYS_mprotect, 2, PROT_EXEC);
  }
  void install() {
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) refuse("no_new_privs");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) refuse("seccomp");
  }

 private:
  static std::uint32_t number(long call) { return static_cast<std::uint32_t>(call); }
  void load(std::size_t offset) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  // `test` continues with the rule that allows the call, or skips it.
  void allow_where(long call, int argument, sock_filter test) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number(call), 0, 4));
    // The low half of the argument: flags and descriptors have no more.
    load(offsetof(seccomp_data, args) + sizeof(std::uint64_t) * static_cast<std::size_t>(argument));
    code_.push_back(test);
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }

  std::vector<sock_filter> code_;
};

void limit_resources(std::uint64_t memory, std::uint64_t seconds) {
  if (kMachine == 0) fail("confining a process", "is known for x86-64 and AArch64 alone");
  limit(RLIMIT_AS, address_space() + memory, "a limit on memory");
  limit(RLIMIT_CPU, seconds, "a limit on processor time");
  limit(RLIMIT_FSIZE, 0, "a limit on files");
  limit(RLIMIT_CORE, 0, "a limit on core files");
}

}  // namespace

void confine_process(int socket, std::uint64_t memory, std::uint64_t seconds) {
  limit_resources(memory, seconds);
  const auto last = static_cast<unsigned>(std::numeric_limits<int>::max());
  const auto kept = static_cast<unsigned>(socket);
  if ((kept > 0 && syscall(SYS_close_range, 0u, kept - 1, 0u) != 0) ||
      syscall(SYS_close_range, kept + 1, last, 0u) != 0)
    refuse("close_range");

  SystemCalls calls;
  calls.allow_computing();
  calls.allow_with(SYS_read, 0, kept);
  calls.allow_with(SYS_write, 0, kept);
  calls.install();
}

void confine_to_reading(std::uint64_t memory, std::uint64_t seconds) {
  limit_resources(memory, seconds);
  SystemCalls calls;
  calls.allow_computing();
  for (const long call :
       {SYS_read, SYS_pread64, SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_readlinkat,
        SYS_getcwd, SYS_getpid, SYS_gettid, SYS_sched_getaffinity, SYS_getrusage, SYS_sysinfo})
    calls.allow(call);
#if defined(__x86_64__)
  calls.allow(SYS_stat);
  calls.allow(SYS_lstat);
  calls.allow(SYS_readlink);
  calls.allow_without(SYS_open, 1, kWriting);
#endif
  calls.allow_without(SYS_openat, 2, kWriting);
  calls.install();
}

}  // namespace facebench
