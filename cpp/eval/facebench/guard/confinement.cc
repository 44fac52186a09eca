#include "facebench/guard/internal/confinement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
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

constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;

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
  void allow_without(long call, int argument, std::uint32_t bits, std::uint32_t else_do = kRefuse) {
    allow_where(call, argument, BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0), else_do);
  }
  // Where an argument has one of these bits.
  void allow_with_bit(long call, int argument, std::uint32_t bits) {
    allow_where(call, argument, BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1), kRefuse);
  }
  // Where an argument has this value.
  void allow_with(long call, int argument, std::uint32_t value) {
    allow_where(call, argument, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1), kRefuse);
  }
  void answer(long call, std::uint32_t with) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number(call), 0, 1));
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, with));
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
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, kRefuse));
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) refuse("no_new_privs");
    // Of all threads, where there are others.
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
      refuse("seccomp");
  }

 private:
  static std::uint32_t number(long call) { return static_cast<std::uint32_t>(call); }
  void load(std::size_t offset) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  // `test` continues with the rule that allows the call, or skips it.
  void allow_where(long call, int argument, sock_filter test, std::uint32_t else_do) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number(call), 0, 4));
    // The low half of the argument: flags and descriptors have no more.
    load(offsetof(seccomp_data, args) + sizeof(std::uint64_t) * static_cast<std::size_t>(argument));
    code_.push_back(test);
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, else_do));
  }

  std::vector<sock_filter> code_;
};

void limit_resources(std::uint64_t memory, std::uint64_t seconds) {
  if (kMachine == 0) fail("confining a process", "is known for x86-64 and AArch64 alone");
  limit(RLIMIT_AS, address_space() + memory, "a limit on memory");
  if (seconds > 0) limit(RLIMIT_CPU, seconds, "a limit on processor time");
  limit(RLIMIT_FSIZE, 0, "a limit on files");
  limit(RLIMIT_CORE, 0, "a limit on core files");
}

// What a stranger's library is refused, and is told of: each call with what it stands for. Not what
// starts a process: the C library blocks all signals before it does, SIGSYS too.
struct Told {
  long call;
  const char* what;
};
constexpr Told kTold[] = {
    {SYS_socket, "open a socket"},    {SYS_openat, "write a file"},
    {SYS_openat2, "write a file"},    {SYS_unlinkat, "remove a file"},
    {SYS_renameat2, "rename a file"}, {SYS_mkdirat, "make a folder"},
    {SYS_execve, "start a program"},  {SYS_execveat, "start a program"},
    {SYS_kill, "send a signal"},      {SYS_ptrace, "trace a process"},
#if defined(__x86_64__)
    {SYS_open, "write a file"},       {SYS_creat, "write a file"},
    {SYS_unlink, "remove a file"},    {SYS_rename, "rename a file"},
    {SYS_mkdir, "make a folder"},
#endif
};
std::array<std::atomic<std::int64_t>, std::size(kTold)> refused{};

// In place of the call: counts it, and returns from it with EPERM.
void count_refused(int, siginfo_t* info, void* context) {
  for (std::size_t i = 0; i < refused.size(); ++i)
    if (kTold[i].call == info->si_syscall) ++refused[i];
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  machine.gregs[REG_RAX] = -EPERM;
#elif defined(__aarch64__)
  machine.regs[0] = static_cast<unsigned long long>(-EPERM);
#else
  static_cast<void>(machine);
#endif
}

}  // namespace

void confine_foreign_code(std::uint64_t memory) {
  limit_resources(memory, 0);
  struct sigaction action {};
  action.sa_sigaction = count_refused;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  if (sigaction(SIGSYS, &action, nullptr) != 0) refuse("a handler of SIGSYS");

  SystemCalls calls;
  for (const long call : {SYS_mmap, SYS_mprotect}) calls.allow(call);  // libraries have code
  calls.allow_computing();
  for (const long call : {SYS_read,
                          SYS_readv,
                          SYS_pread64,
                          SYS_lseek,
                          SYS_write,
                          SYS_writev,
                          SYS_fstat,
                          SYS_newfstatat,
                          SYS_statx,
                          SYS_statfs,
                          SYS_fstatfs,
                          SYS_readlinkat,
                          SYS_faccessat,
                          SYS_faccessat2,
                          SYS_getdents64,
                          SYS_getcwd,
                          SYS_getpid,
                          SYS_getppid,
                          SYS_gettid,
                          SYS_getuid,
                          SYS_geteuid,
                          SYS_getgid,
                          SYS_getegid,
                          SYS_uname,
                          SYS_sysinfo,
                          SYS_getrusage,
                          SYS_times,
                          SYS_getcpu,
                          SYS_gettimeofday,
                          SYS_clock_getres,
                          SYS_nanosleep,
                          SYS_clock_nanosleep,
                          SYS_ppoll,
                          SYS_rt_sigaction,
                          SYS_sigaltstack,
                          SYS_set_robust_list,
                          SYS_set_tid_address,
                          SYS_rseq,
                          SYS_membarrier,
                          SYS_mincore,
                          SYS_sched_getaffinity,
                          SYS_sched_getparam,
                          SYS_sched_getscheduler,
                          SYS_get_mempolicy,
                          SYS_pipe2,
                          SYS_eventfd2})
    calls.allow(call);
  calls.allow_with(SYS_tgkill, 0, static_cast<std::uint32_t>(getpid()));  // abort()
  for (const std::uint32_t what : {PR_SET_NAME, PR_GET_NAME}) calls.allow_with(SYS_prctl, 0, what);
  constexpr std::uint32_t kTell = SECCOMP_RET_TRAP;
#if defined(__x86_64__)
  for (const long call : {SYS_stat, SYS_lstat, SYS_readlink, SYS_access, SYS_poll, SYS_time,
                          SYS_getrlimit, SYS_arch_prctl})
    calls.allow(call);
  calls.allow_without(SYS_open, 1, kWriting, kTell);
#endif
  calls.allow_without(SYS_openat, 2, kWriting, kTell);
  calls.allow_with_bit(SYS_clone, 0, CLONE_THREAD);  // threads, which are confined as well
  // What starts them lies in memory here, where no rule sees it; without it libraries use clone.
  calls.answer(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  for (const Told& told : kTold) calls.answer(told.call, kTell);  // behind the rules for the same
  calls.install();
}

std::string refused_calls() {
  std::string lines;
  for (std::size_t i = 0; i < refused.size(); ++i)
    if (refused[i] > 0) lines += fmt::format("{} {}\n", refused[i].load(), kTold[i].what);
  return lines;
}

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
