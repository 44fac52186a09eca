// Preloaded into a process: makes one call that changes files fail, or ends the process after it.
//
// fault_arm(call, n, error) arms it in the calling process: the n-th `call` (from 1) on a file
// below the folder FACEBENCH_FAULT_ROOT fails with `error`, or, where error is 0, is made and then
// the process gets SIGKILL. fault_count(call) is how many were made since. Calls: write, fsync,
// rename, open (for writing, also mkdir). Armed with n = 0 it only counts.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../preload.h"

enum { WRITE, FSYNC, RENAME, OPEN, CALLS };
static const char* const names[CALLS] = {"write", "fsync", "rename", "open"};
static atomic_int counts[CALLS];
static int armed_call = -1, armed_n, armed_error;

static int number_of(const char* call) {
  for (int i = 0; i < CALLS; ++i)
    if (strcmp(call, names[i]) == 0) return i;
  abort();
}
void fault_arm(const char* call, int n, int error) {
  for (int i = 0; i < CALLS; ++i) counts[i] = 0;
  armed_call = number_of(call);
  armed_n = n;
  armed_error = error;
}
int fault_count(const char* call) { return counts[number_of(call)]; }

static int below_root(const char* path) {
  const char* root = getenv("FACEBENCH_FAULT_ROOT");
  return root && strncmp(path, root, strlen(root)) == 0;
}
static int path_counts(const char* path) {
  if (path[0] == '/') return below_root(path);
  char folder[4096];
  return getcwd(folder, sizeof folder) && below_root(folder);
}
static int file_counts(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  return below_root(path);
}
// Whether this call is the one that fails; `after` says that the process ends behind it.
static int fails(int call, int* after) {
  const int n = ++counts[call];
  *after = 0;
  if (call != armed_call || n != armed_n) return 0;
  if (armed_error == 0) return *after = 1, 0;
  errno = armed_error;
  return 1;
}
#define GUARDED(call, relevant, result_type, failed, made) \
  do {                                                     \
    int after = 0;                                         \
    if ((relevant) && fails(call, &after)) return failed;  \
    result_type result = made;                             \
    if (after) kill(getpid(), SIGKILL);                    \
    return result;                                         \
  } while (0)

ssize_t write(int fd, const void* data, size_t n) {
  GUARDED(WRITE, file_counts(fd), ssize_t, -1, REAL(write)(fd, data, n));
}
ssize_t pwrite(int fd, const void* data, size_t n, off_t at) {
  GUARDED(WRITE, file_counts(fd), ssize_t, -1, REAL(pwrite)(fd, data, n, at));
}
ssize_t pwrite64(int fd, const void* data, size_t n, off64_t at) {
  GUARDED(WRITE, file_counts(fd), ssize_t, -1, REAL(pwrite64)(fd, data, n, at));
}
ssize_t writev(int fd, const struct iovec* parts, int n) {
  GUARDED(WRITE, file_counts(fd), ssize_t, -1, REAL(writev)(fd, parts, n));
}
int posix_fallocate(int fd, off_t at, off_t n) {
  int after = 0;
  if (file_counts(fd) && fails(WRITE, &after)) return armed_error;
  const int result = REAL(posix_fallocate)(fd, at, n);
  if (after) kill(getpid(), SIGKILL);
  return result;
}
int fsync(int fd) { GUARDED(FSYNC, file_counts(fd), int, -1, REAL(fsync)(fd)); }
int fdatasync(int fd) { GUARDED(FSYNC, file_counts(fd), int, -1, REAL(fdatasync)(fd)); }
int rename(const char* from, const char* to) {
  GUARDED(RENAME, path_counts(from), int, -1, REAL(rename)(from, to));
}
int renameat2(int from_fd, const char* from, int to_fd, const char* to, unsigned flags) {
  GUARDED(RENAME, path_counts(from), int, -1, REAL(renameat2)(from_fd, from, to_fd, to, flags));
}
int mkdir(const char* path, mode_t mode) {
  GUARDED(OPEN, path_counts(path), int, -1, REAL(mkdir)(path, mode));
}
#define WRITES(flags) (((flags) & (O_WRONLY | O_RDWR | O_CREAT)) != 0)
int open(const char* path, int flags, ...) {
  MODE(flags)
  GUARDED(OPEN, WRITES(flags) && path_counts(path), int, -1, REAL(open)(path, flags, mode));
}
int open64(const char* path, int flags, ...) {
  MODE(flags)
  GUARDED(OPEN, WRITES(flags) && path_counts(path), int, -1, REAL(open64)(path, flags, mode));
}
FILE* fopen(const char* path, const char* how) {
  GUARDED(OPEN, how[0] != 'r' && path_counts(path), FILE*, NULL, REAL(fopen)(path, how));
}
FILE* fopen64(const char* path, const char* how) {
  GUARDED(OPEN, how[0] != 'r' && path_counts(path), FILE*, NULL, REAL(fopen64)(path, how));
}
