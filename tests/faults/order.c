// Preloaded into a process: every call that changes files below FACEBENCH_ORDER_ROOT becomes a line
// of the file FACEBENCH_ORDER_LOG, in their order: what was done, the inode, the path, of a rename
// also the new path.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../preload.h"

static pthread_mutex_t one_by_one = PTHREAD_MUTEX_INITIALIZER;

static void absolute(const char* path, char* out, size_t size) {
  char folder[2048] = "";
  if (path[0] != '/' && getcwd(folder, sizeof folder)) strcat(folder, "/");
  snprintf(out, size, "%s%s", folder, path);
}
static void note(const char* what, ino_t inode, const char* path, const char* other) {
  const char *root = getenv("FACEBENCH_ORDER_ROOT"), *log = getenv("FACEBENCH_ORDER_LOG");
  if (!root || !log || strncmp(path, root, strlen(root)) != 0) return;
  char line[9000];
  const int n =
      snprintf(line, sizeof line, "%s\t%lu\t%s\t%s\n", what, (unsigned long)inode, path, other);
  pthread_mutex_lock(&one_by_one);
  const int fd = REAL(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0 || REAL(write)(fd, line, (size_t)n) != n) _exit(99);
  REAL(close)(fd);
  pthread_mutex_unlock(&one_by_one);
}
static void note_fd(const char* what, int fd) {
  char link[64], path[4096];
  struct stat facts;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0 || fstat(fd, &facts) != 0) return;
  path[n] = 0;
  note(what, facts.st_ino, path, "");
}
static void note_path(const char* what, const char* from, const char* to) {
  char path[4096], other[4096] = "";
  struct stat facts;
  absolute(from, path, sizeof path);
  if (to[0]) absolute(to, other, sizeof other);
  if (lstat(to[0] ? other : path, &facts) == 0) note(what, facts.st_ino, path, other);
}
#define NOTED_FD(type, what, made)      \
  do {                                  \
    const type result = made;           \
    if (result >= 0) note_fd(what, fd); \
    return result;                      \
  } while (0)

ssize_t write(int fd, const void* data, size_t n) {
  NOTED_FD(ssize_t, "write", REAL(write)(fd, data, n));
}
ssize_t pwrite(int fd, const void* data, size_t n, off_t at) {
  NOTED_FD(ssize_t, "write", REAL(pwrite)(fd, data, n, at));
}
ssize_t pwrite64(int fd, const void* data, size_t n, off64_t at) {
  NOTED_FD(ssize_t, "write", REAL(pwrite64)(fd, data, n, at));
}
ssize_t writev(int fd, const struct iovec* parts, int n) {
  NOTED_FD(ssize_t, "write", REAL(writev)(fd, parts, n));
}
int ftruncate(int fd, off_t n) { NOTED_FD(int, "write", REAL(ftruncate)(fd, n)); }
int ftruncate64(int fd, off64_t n) { NOTED_FD(int, "write", REAL(ftruncate64)(fd, n)); }
int fsync(int fd) { NOTED_FD(int, "fsync", REAL(fsync)(fd)); }
int fdatasync(int fd) { NOTED_FD(int, "fsync", REAL(fdatasync)(fd)); }
#define NOTED_OPEN(name)                                                 \
  int name(const char* path, int flags, ...) {                           \
    MODE(flags)                                                          \
    const int before = flags & O_CREAT ? access(path, F_OK) : 0;         \
    const int fd = REAL(name)(path, flags, mode);                        \
    if (fd >= 0 && before != 0) note_fd("make", fd);                     \
    if (fd >= 0 && before == 0 && flags & O_TRUNC) note_fd("write", fd); \
    return fd;                                                           \
  }
NOTED_OPEN(open)
NOTED_OPEN(open64)
int mkdir(const char* path, mode_t mode) {
  const int result = REAL(mkdir)(path, mode);
  if (result == 0) note_path("folder", path, "");
  return result;
}
int rename(const char* from, const char* to) {
  const int result = REAL(rename)(from, to);
  if (result == 0) note_path("rename", from, to);
  return result;
}
int renameat2(int from_fd, const char* from, int to_fd, const char* to, unsigned flags) {
  const int result = REAL(renameat2)(from_fd, from, to_fd, to, flags);
  if (result == 0) note_path(flags & 2 ? "exchange" : "rename", from, to);
  return result;
}
int unlink(const char* path) {
  note_path("remove", path, "");
  return REAL(unlink)(path);
}
