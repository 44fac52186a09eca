#include "facebench/images/image_location.h"

#include <stdexcept>
#include <utility>

#include "facebench/io/file.h"
#include "facebench/io/presence.h"

namespace facebench {

ImageLocation::ImageLocation(std::filesystem::path path,
                             std::shared_ptr<const ImageArchive> archive, std::int64_t entry)
    : path_(std::move(path)), archive_(std::move(archive)), entry_(entry) {
  if (!archive_) throw std::invalid_argument("an entry of an archive needs the archive");
}

bool ImageLocation::exists() const { return archive_ != nullptr || is_there(path_); }

std::string ImageLocation::read() const {
  return archive_ ? archive_->read(entry_) : read_file(path_);
}

std::string ImageLocation::where() const {
  return archive_ ? archive_->where(entry_) : path_.string();
}

}  // namespace facebench
