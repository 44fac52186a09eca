/* Preloaded by as_avx2.sh: in this process every CPUID says that AVX2 is the widest vector unit.
   Linux makes the instruction fault (ARCH_SET_CPUID, since 4.12); the handler carries it out and
   takes the bits away. Names of bits: Intel's Software Developer's Manual, volume 2A, CPUID. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <cpuid.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Leaf 7: AVX-512 in all its parts, AMX, VNNI, AVX10. */
static const unsigned kLeaf7Ebx =
    1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 | 1u << 31;
static const unsigned kLeaf7Ecx = 1u << 1 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 14;
static const unsigned kLeaf7Edx =
    1u << 2 | 1u << 3 | 1u << 8 | 1u << 22 | 1u << 23 | 1u << 24 | 1u << 25;
static const unsigned kLeaf7_1Eax = 1u << 4 | 1u << 5 | 1u << 21 | 1u << 23;
static const unsigned kLeaf7_1Edx = 1u << 4 | 1u << 5 | 1u << 10 | 1u << 19;

/* What the program wants of other faults. */
static struct sigaction theirs;

static long let_cpuid(int run) { return syscall(SYS_arch_prctl, ARCH_SET_CPUID, run); }

static void on_fault(int signal_number, siginfo_t* what, void* context) {
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const unsigned char* code = (const unsigned char*)registers[REG_RIP];
  if (what->si_code != SI_KERNEL || code[0] != 0x0f || code[1] != 0xa2) {
    if (theirs.sa_flags & SA_SIGINFO)
      theirs.sa_sigaction(signal_number, what, context);
    else if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN)
      theirs.sa_handler(signal_number);
    else
      signal(signal_number, SIG_DFL);
    return;
  }
  const unsigned leaf = (unsigned)registers[REG_RAX], part = (unsigned)registers[REG_RCX];
  unsigned a, b, c, d;
  let_cpuid(1);
  __cpuid_count(leaf, part, a, b, c, d);
  let_cpuid(0);
  if (leaf == 7 && part == 0) {
    b &= ~kLeaf7Ebx;
    c &= ~kLeaf7Ecx;
    d &= ~kLeaf7Edx;
  } else if (leaf == 7 && part == 1) {
    a &= ~kLeaf7_1Eax;
    d &= ~kLeaf7_1Edx;
  }
  registers[REG_RAX] = a;
  registers[REG_RBX] = b;
  registers[REG_RCX] = c;
  registers[REG_RDX] = d;
  registers[REG_RIP] += 2;
}

static int real_sigaction(int signal_number, const struct sigaction* action,
                          struct sigaction* before) {
  static int (*real)(int, const struct sigaction*, struct sigaction*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "sigaction");
  return real(signal_number, action, before);
}

/* In place of the C library's: programs such as pytest set a handler of their own. */
int sigaction(int signal_number, const struct sigaction* action, struct sigaction* before) {
  if (signal_number != SIGSEGV) return real_sigaction(signal_number, action, before);
  const struct sigaction last = theirs;
  if (action) theirs = *action;
  if (before) *before = last;
  return 0;
}

__attribute__((constructor)) static void hold(void) {
  struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
  ours.sa_sigaction = on_fault;
  real_sigaction(SIGSEGV, &ours, &theirs);
  if (let_cpuid(0) != 0) {
    fputs("as_avx2: this processor or its virtual machine cannot hide instructions\n", stderr);
    exit(1);
  }
}
