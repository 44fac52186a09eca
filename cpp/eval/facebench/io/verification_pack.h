#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace facebench {

// InsightFace's test sets (`lfw.bin`): a pickle of (images, same): encoded images, two for each
// pair, and whether a pair shows one person. Also inside of an `.xz` file. Nothing is unpickled:
// the bytes are read by a machine that knows lists, bytes, numbers and numpy's arrays of bytes, and
// refuses every other name.
// Source: deepinsight/insightface recognition/arcface_torch/eval/verification.py load_bin.
class VerificationPack {
 public:
  // Maps the file (unfolds an .xz into memory). Throws Error naming file and byte for damage, for a
  // name that is not read, for empty images, and where there are not two images for each pair.
  explicit VerificationPack(const std::filesystem::path& path);
  // The same for bytes in memory that outlive it; messages call them `where`.
  VerificationPack(std::span<const std::byte> bytes, std::string_view where);
  ~VerificationPack();
  VerificationPack(VerificationPack&&) noexcept;

  // Images, in order: those of pair k are 2 k and 2 k + 1. Valid as long as this object.
  const std::vector<std::string_view>& images() const { return images_; }
  // One a pair.
  const std::vector<bool>& same() const { return same_; }
  // "000017": what lists and archives call an image; as many digits as the last one needs, six at
  // least.
  std::string name(std::int64_t image) const;

 private:
  struct Memory;
  void read(std::span<const std::byte> bytes, std::string_view where);

  std::unique_ptr<Memory> memory_;
  std::vector<std::string_view> images_;
  std::vector<bool> same_;
};

// A file of such a set, or the only one in a folder; whether a path is meant as one: it ends in
// .bin or .bin.xz.
bool is_verification_pack(const std::filesystem::path& path);

// The bytes of such a file, a pickle of protocol 3. Throws std::invalid_argument unless there are
// two images for each pair.
std::string verification_pack_bytes(std::span<const std::string> images,
                                    const std::vector<bool>& same);

}  // namespace facebench
