// Preloaded into a process: after opened_start(log) every path that it opens, for reading or
// writing, is a line of the file `log`. Children are left alone: the confined ones may open
// nothing.
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../preload.h"

static int log_fd = -1;
static pid_t owner;

void opened_start(const char* path) {
  owner = getpid();
  log_fd = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void note(const char* path) {
  char line[4200];
  if (log_fd < 0 || getpid() != owner) return;
  const int n = snprintf(line, sizeof line, "%s\n", path);
  if (write(log_fd, line, (size_t)n) != n) _exit(99);
}
int open(const char* path, int flags, ...) {
  MODE(flags)
  note(path);
  return REAL(open)(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE(flags)
  note(path);
  return REAL(open64)(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  MODE(flags)
  note(path);
  return REAL(openat)(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  MODE(flags)
  note(path);
  return REAL(openat64)(folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* how) {
  note(path);
  return REAL(fopen)(path, how);
}
FILE* fopen64(const char* path, const char* how) {
  note(path);
  return REAL(fopen64)(path, how);
}
DIR* opendir(const char* path) {
  note(path);
  return REAL(opendir)(path);
}
