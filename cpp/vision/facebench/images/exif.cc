#include <algorithm>
#include <cstring>

#include "facebench/images/internal/exif.h"

namespace facebench {
namespace {

constexpr std::size_t kEntryBytes = 12;

int bytes_of_type(std::uint32_t type) {
  constexpr std::uint32_t kByte = 1, kShort = 3, kLong = 4;
  return type == kByte ? 1 : type == kShort ? 2 : type == kLong ? 4 : 0;
}

}  // namespace

std::uint32_t whole_number(std::span<const std::uint8_t> bytes, std::size_t at, int size,
                           bool big) {
  std::uint32_t value = 0;
  for (int i = 0; i < size; ++i)
    value |= static_cast<std::uint32_t>(bytes[at + static_cast<std::size_t>(i)])
             << (8 * (big ? size - 1 - i : i));
  return value;
}

std::optional<TiffDirectory> TiffDirectory::first(std::span<const std::uint8_t> block) {
  if (block.size() < 8 || block[0] != block[1] || (block[0] != 'I' && block[0] != 'M')) return {};
  TiffDirectory directory;
  directory.block_ = block;
  directory.big_ = block[0] == 'M';
  if (whole_number(block, 2, 2, directory.big_) != 42) return {};
  const std::size_t start = whole_number(block, 4, 4, directory.big_);
  if (start > block.size() || block.size() - start < 2) return {};
  directory.at_ = start + 2;
  directory.entries_ = std::min<std::size_t>(whole_number(block, start, 2, directory.big_),
                                             (block.size() - directory.at_) / kEntryBytes);
  return directory;
}

std::vector<std::uint32_t> TiffDirectory::numbers(std::uint32_t tag) const {
  for (std::size_t i = 0; i < entries_; ++i) {
    const std::size_t entry = at_ + kEntryBytes * i;
    if (whole_number(block_, entry, 2, big_) != tag) continue;
    const int size = bytes_of_type(whole_number(block_, entry + 2, 2, big_));
    const std::size_t count = whole_number(block_, entry + 4, 4, big_);
    if (size == 0 || count > block_.size() / static_cast<std::size_t>(size)) return {};
    const std::size_t length = count * static_cast<std::size_t>(size);
    // Four bytes stand in the entry itself.
    const std::size_t at = length <= 4 ? entry + 8 : whole_number(block_, entry + 8, 4, big_);
    if (at > block_.size() || block_.size() - at < length) return {};
    std::vector<std::uint32_t> numbers(count);
    for (std::size_t k = 0; k < count; ++k)
      numbers[k] = whole_number(block_, at + k * static_cast<std::size_t>(size), size, big_);
    return numbers;
  }
  return {};
}

int orientation_of_exif(std::span<const std::uint8_t> exif) {
  if (exif.size() >= 6 && std::memcmp(exif.data(), "Exif\0", 6) == 0) exif = exif.subspan(6);
  const auto directory = TiffDirectory::first(exif);
  if (!directory) return 1;
  constexpr std::uint32_t kOrientation = 0x0112;
  const std::vector<std::uint32_t> numbers = directory->numbers(kOrientation);
  const bool known = numbers.size() == 1 && numbers[0] >= 1 && numbers[0] <= 8;
  return known ? static_cast<int>(numbers[0]) : 1;
}

Image turn(Image image, int orientation) {
  if (orientation == 1) return image;
  const bool swapped = orientation >= 5;
  const int width = swapped ? image.height : image.width;
  const int height = swapped ? image.width : image.height;
  Image result(width, height, image.order);
  const int channels = image.channels();
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      int u = swapped ? y : x, v = swapped ? x : y;
      if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
        u = image.width - 1 - u;
      if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
        v = image.height - 1 - v;
      std::copy_n(image.row(v) + u * channels, channels, result.row(y) + x * channels);
    }
  }
  return result;
}

}  // namespace facebench
