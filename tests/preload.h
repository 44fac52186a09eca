// What libraries share that are preloaded into a process and stand before its calls (tests/faults,
// tests/hostile). Needs _GNU_SOURCE.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>

// The call that this one stands before.
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// The third argument of open(), which is there only where a file may be made.
#define MODE(flags)                      \
  mode_t mode = 0;                       \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list more;                        \
    va_start(more, flags);               \
    mode = va_arg(more, mode_t);         \
    va_end(more);                        \
  }
