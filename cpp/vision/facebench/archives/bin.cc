// InsightFace's test sets as archives: the images of its pairs, in order.

#include <fmt/format.h>

#include <stdexcept>

#include "facebench/archives/internal/formats.h"
#include "facebench/io/verification_pack.h"

namespace facebench {
namespace {

// Who is on an image is known within its pair only: the images of a genuine pair are one person's,
// all others are told apart.
class BinArchive : public ImageArchive {
 public:
  explicit BinArchive(const std::filesystem::path& path) : path_(path), pack_(path) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(pack_.images().size()); }
  std::string name(std::int64_t i) const override {
    check(i);
    return pack_.name(i);
  }
  std::int64_t label(std::int64_t i) const override {
    check(i);
    return pack_.same()[static_cast<std::size_t>(i / 2)] ? i / 2 * 2 : i;
  }
  std::string read(std::int64_t i) const override {
    check(i);
    return std::string(pack_.images()[static_cast<std::size_t>(i)]);
  }
  std::string where(std::int64_t i) const override {
    return fmt::format("{}: image {}", path_.string(), i);
  }

 private:
  void check(std::int64_t i) const {
    if (i < 0 || i >= size()) throw std::out_of_range("no such entry of the archive");
  }

  std::filesystem::path path_;
  VerificationPack pack_;
};

std::shared_ptr<const ImageArchive> open_bin(const std::filesystem::path& path,
                                             const ArchiveOptions&) {
  return std::make_shared<BinArchive>(file_or_only_one(path, "", ".bin"));
}

}  // namespace

ImageArchiveFormat bin_archive() {
  return {"bin", "InsightFace's test sets, .bin and .bin.xz: pairs of images", is_verification_pack,
          open_bin};
}

}  // namespace facebench
