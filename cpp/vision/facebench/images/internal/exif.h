#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "facebench/images/image.h"

namespace facebench {

// Whole numbers of one to four bytes, in either order. The caller checks that they are there.
std::uint32_t whole_number(std::span<const std::uint8_t> bytes, std::size_t at, int size, bool big);

// The tags of a directory of a TIFF block, which is what a TIFF file and Exif data are. Source:
// TIFF 6.0, section 2. Nothing that a block says is believed: what lies outside of it is not there.
class TiffDirectory {
 public:
  // The first directory; none where the block does not begin as one or has none.
  static std::optional<TiffDirectory> first(std::span<const std::uint8_t> block);

  // The numbers of a tag of type BYTE, SHORT or LONG; empty where it is absent, damaged or of
  // another type.
  std::vector<std::uint32_t> numbers(std::uint32_t tag) const;
  bool big_endian() const { return big_; }

 private:
  std::span<const std::uint8_t> block_;
  std::size_t at_ = 0, entries_ = 0;
  bool big_ = false;
};

// The orientation (1 to 8) of Exif data, which may begin with "Exif\0\0"; 1 where the tag is
// absent, damaged or of another value.
int orientation_of_exif(std::span<const std::uint8_t> exif);

// As Exif 2.32, table 6: 2 mirrors left to right, 3 turns by 180 degrees, 4 mirrors top to bottom,
// 5 to 8 swap rows and columns.
Image turn(Image image, int orientation);

}  // namespace facebench
