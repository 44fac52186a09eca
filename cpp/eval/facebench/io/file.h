#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace facebench {

class Temporary;

// The bytes of a regular file. Throws Error where it cannot be read, is not a regular file, or is
// larger than `max_bytes` (nothing is allocated then).
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes = 1ull << 30);

// Writes the whole file or nothing: into a temporary beside it, synced, renamed over `path`, the
// folder synced. Missing folders on the way are made. Throws Error; the old file is then untouched.
void write_file(const std::filesystem::path& path, std::string_view bytes);
// The same for bytes that lie in pieces, in order.
void write_file(const std::filesystem::path& path, std::span<const std::string_view> pieces);

// An atomic write for code that needs a file name (HDF5, encoders): write to temporary(), close it,
// commit(). Without commit() the temporary is removed and the target stays as it was. The temporary
// is an empty file `.NAME.facebench.tmp-RANDOM` in the target's own folder, so a rename suffices.
// It is locked while this object lives; what a killed process left there is removed by the next
// one.
class AtomicFile {
 public:
  // Makes missing folders. Throws Error where `target` is a folder or its folder cannot be made.
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::filesystem::path& target() const { return target_; }
  const std::filesystem::path& temporary() const;
  // Syncs the temporary, renames it over the target, syncs the folder. Throws Error;
  // std::logic_error on a second call.
  void commit();

 private:
  std::filesystem::path target_;
  std::unique_ptr<Temporary> temporary_;
  bool open_ = true;
};

// The same for a folder: fill temporary(), commit(). Files in it are written as usual: commit()
// syncs each before the rename.
class AtomicFolder {
 public:
  // Throws Error where another process writes this folder, and where `target` exists and is not an
  // empty folder, unless `replace`: then commit() exchanges the two in one step and removes the old
  // one.
  explicit AtomicFolder(std::filesystem::path target, bool replace = false);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  const std::filesystem::path& target() const { return target_; }
  const std::filesystem::path& temporary() const;
  void commit();

 private:
  std::filesystem::path target_;
  std::unique_ptr<Temporary> temporary_;
  bool replace_;
  bool open_ = true;
};

// A file mapped into memory, read-only. An empty file has no bytes.
class MappedFile {
 public:
  MappedFile() = default;
  // Throws Error where it cannot be opened, is not a regular file, or cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  // Valid while this object lives. Another process that shortens the file meanwhile makes access
  // fail (SIGBUS); files that facebench writes are replaced, never shortened.
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Gives back the memory of bytes that were read; reading them again takes them from the file.
  void forget(std::size_t first, std::size_t count) const;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Whether the name of a path ends so, in any case.
bool has_ending(const std::filesystem::path& path, std::string_view ending);

}  // namespace facebench
