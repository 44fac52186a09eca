#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

#include "facebench/archives/archive_writer.h"
#include "facebench/io/file.h"

namespace facebench {

// The rows of image_archive_writers(), each defined in the file of its name.
ImageArchiveWriterFormat bin_writer();
ImageArchiveWriterFormat rec_writer();
ImageArchiveWriterFormat tar_writer();

// A file that is written piece by piece and appears when it is committed.
class PieceFile {
 public:
  explicit PieceFile(const std::filesystem::path& target);
  // Throws Error where it cannot be written.
  void write(std::string_view bytes);
  std::uint64_t size() const { return size_; }
  void commit();

 private:
  AtomicFile file_;
  std::ofstream stream_;
  std::uint64_t size_ = 0;
};

}  // namespace facebench
