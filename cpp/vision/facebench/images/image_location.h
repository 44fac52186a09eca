#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "facebench/archives/archive.h"

namespace facebench {

// Where an encoded image lies: a file of its own, or an entry of an archive. Whoever opens an image
// asks this and need not know which.
class ImageLocation {
 public:
  ImageLocation() = default;
  ImageLocation(std::filesystem::path file) : path_(std::move(file)) {}  // NOLINT: a path is one
  // An entry of an archive that lies at `path`. Throws std::invalid_argument without an archive.
  ImageLocation(std::filesystem::path path, std::shared_ptr<const ImageArchive> archive,
                std::int64_t entry);

  // The file, or the archive.
  const std::filesystem::path& path() const { return path_; }
  // Null for a file.
  const std::shared_ptr<const ImageArchive>& archive() const { return archive_; }
  std::int64_t entry() const { return entry_; }

  // Whether the file is there; an archive's entry is. Throws Error as is_there() does.
  bool exists() const;
  // The encoded bytes. Throws Error naming the file, or the archive and its record.
  std::string read() const;
  // For messages: the path, or the archive and its record.
  std::string where() const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<const ImageArchive> archive_;
  std::int64_t entry_ = -1;
};

}  // namespace facebench
