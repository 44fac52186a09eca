#include "facebench/io/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "facebench/io/sha256.h"
#include "io/helpers.h"

namespace facebench {

namespace fs = std::filesystem;

TEST(File, WritesWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a";
  write_file(path, "one");
  EXPECT_EQ(read_file(path), "one");
  write_file(path, std::string("t\0o", 3));
  EXPECT_EQ(read_file(path), std::string("t\0o", 3));
  const std::string_view pieces[] = {"ab", "", "cd"};
  write_file(path, pieces);
  EXPECT_EQ(read_file(path), "abcd");
  write_file(path, "");
  EXPECT_EQ(read_file(path), "");
  EXPECT_EQ(folder.entries(), 1u);
  write_file(folder / "x" / "y" / "z", "deep");
  EXPECT_EQ(read_file(folder / "x" / "y" / "z"), "deep");
}

TEST(File, ReadErrors) {
  const TemporaryFolder folder;
  EXPECT_ERROR(read_file(folder / "none"), "none: cannot open: No such file");
  EXPECT_ERROR(read_file(folder.path()), "is a folder, not a file");
  write_file(folder / "five", "12345");
  EXPECT_ERROR(read_file(folder / "five", 4), "has 5 bytes; at most 4");
  EXPECT_EQ(read_file(folder / "five", 5), "12345");
  // A pipe that nobody writes to must not be waited for.
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_ERROR(read_file(folder / "pipe"), "is not a regular file");
  EXPECT_ERROR(MappedFile(folder / "pipe"), "is not a regular file");
}

TEST(File, WriteErrorsLeaveNothing) {
  const TemporaryFolder folder;
  EXPECT_ERROR(write_file(folder.path(), "x"), "is a folder");
  write_file(folder / "file", "x");
  EXPECT_ERROR(write_file(folder / "file" / "below", "x"), "cannot make this folder");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(File, AtomicFileWithoutCommitChangesNothing) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  {
    const AtomicFile atomic(folder / "a");
    std::ofstream(atomic.temporary()) << "half";
    EXPECT_EQ(atomic.temporary().parent_path(), folder.path());
    EXPECT_TRUE(atomic.temporary().filename().string().starts_with(".a.facebench.tmp-"));
    EXPECT_EQ(read_file(folder / "a"), "old");
  }
  EXPECT_EQ(folder.entries(), 1u);
  AtomicFile atomic(folder / "a");
  std::ofstream(atomic.temporary()) << "new";
  atomic.commit();
  EXPECT_THROW(atomic.commit(), std::logic_error);
  EXPECT_EQ(read_file(folder / "a"), "new");
}

TEST(File, AtomicFolder) {
  const TemporaryFolder folder;
  const fs::path target = folder / "run";
  {
    AtomicFolder atomic(target);
    write_file(atomic.temporary() / "plots" / "a", "1");
    EXPECT_FALSE(fs::exists(target));
    atomic.commit();
  }
  EXPECT_EQ(read_file(target / "plots" / "a"), "1");
  EXPECT_ERROR(AtomicFolder{target}, "exists and is not empty");
  {
    const AtomicFolder abandoned(target, true);
    write_file(abandoned.temporary() / "b", "2");
  }
  EXPECT_EQ(read_file(target / "plots" / "a"), "1");
  {
    AtomicFolder atomic(target, true);
    write_file(atomic.temporary() / "b", "2");
    atomic.commit();
  }
  EXPECT_FALSE(fs::exists(target / "plots"));
  EXPECT_EQ(read_file(target / "b"), "2");
  fs::create_directory(folder / "empty");
  AtomicFolder into_empty(folder / "empty/");
  into_empty.commit();
  EXPECT_EQ(folder.entries(), 2u);
  write_file(folder / "file", "");
  EXPECT_ERROR(AtomicFolder{folder / "file"}, "exists and is not a folder");
}

// What `action` does in a process of its own, which then dies by SIGKILL or ends.
void in_a_child(const std::function<void()>& action, bool killed) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    action();
    if (killed) ::raise(SIGKILL);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WIFSIGNALED(status), killed);
}

TEST(File, WhatAKilledProcessLeftIsRemovedByTheNext) {
  const TemporaryFolder folder;
  write_file(folder.path() / "below" / "unrelated", "");
  in_a_child(
      [&] {
        new AtomicFile(folder / "a");
        const auto* half = new AtomicFolder(folder / "b");
        write_file(half->temporary() / "c", "half");
      },
      true);
  // Other programs' and the user's: nothing says that they are ours.
  const char* others[] = {".d.tmp-mine", ".d.tmp-2024-11", ".d.tmp-1732733347123456",
                          ".d.facebench.tmp-mine"};
  for (const char* name : others) std::ofstream(folder / name) << "the user's";
  ASSERT_EQ(folder.entries(), 7u);
  write_file(folder / "a", "new");
  EXPECT_EQ(folder.entries(), 6u);
  for (const char* name : others) EXPECT_TRUE(fs::exists(folder / name)) << name;
}

TEST(File, WhatALivingProcessWritesStays) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "x");
  AtomicFile file(folder / "x" / "a");
  AtomicFolder whole(folder / "x" / "b");
  std::ofstream(file.temporary()) << "1";
  write_file(whole.temporary() / "c", "2");
  // By this name the child has not yet looked for what is left there.
  fs::create_directory_symlink(folder / "x", folder / "y");
  in_a_child([&] { write_file(folder / "y" / "d", "3"); }, false);
  file.commit();
  whole.commit();
  EXPECT_EQ(read_file(folder / "x" / "a"), "1");
  EXPECT_EQ(read_file(folder / "x" / "b" / "c"), "2");
}

TEST(File, OneFolderIsWrittenByOneProcess) {
  const TemporaryFolder folder;
  {
    const AtomicFolder first(folder / "run");
    EXPECT_ERROR(AtomicFolder(folder / "run", true), "is being written by another process");
    const AtomicFolder other(folder / "run-2");
  }
  AtomicFolder next(folder / "run");
  next.commit();
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(File, TheLongestNameThatAFileSystemTakes) {
  const TemporaryFolder folder;
  write_file(folder / std::string(255, 'n'), "x");
  EXPECT_ERROR(write_file(folder / std::string(256, 'n'), "x"), "longer than 255 bytes");
  EXPECT_ERROR(AtomicFolder(folder / std::string(256, 'n')), "longer than 255 bytes");
}

TEST(File, MappedFile) {
  const TemporaryFolder folder;
  write_file(folder / "a", "abc");
  MappedFile file(folder / "a");
  ASSERT_EQ(file.bytes().size(), 3u);
  EXPECT_EQ(static_cast<char>(file.bytes()[2]), 'c');
  MappedFile moved = std::move(file);
  EXPECT_EQ(moved.bytes().size(), 3u);
  write_file(folder / "empty", "");
  EXPECT_TRUE(MappedFile(folder / "empty").bytes().empty());
}

TEST(File, Sha256OfAFile) {
  const TemporaryFolder folder;
  write_file(folder / "a", "abc");
  EXPECT_EQ(sha256_file(folder / "a"), sha256_hex("abc"));
  write_file(folder / "a", "");
  EXPECT_EQ(sha256_file(folder / "a"), sha256_hex(""));
}

}  // namespace facebench
