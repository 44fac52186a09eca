#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/images/internal/exif.h"
#include "facebench/images/internal/formats.h"
#include "facebench/images/internal/unpack.h"

namespace facebench {
namespace {

// Source of tags and their meaning: TIFF 6.0, sections 3 to 8, 14 to 16 and 18.
enum class TiffTag : std::uint32_t {
  width = 256,
  height = 257,
  bits = 258,
  packing = 259,
  colours = 262,
  fill_order = 266,
  strip_offsets = 273,
  samples = 277,
  rows_per_strip = 278,
  strip_bytes = 279,
  planes = 284,
  predictor = 317,
  palette = 320,
  tile_width = 322,
  tile_height = 323,
  tile_offsets = 324,
  tile_bytes = 325,
  extra_samples = 338,
  sample_format = 339,
};

enum TiffColours : std::size_t {
  kWhiteIsZero = 0,
  kBlackIsZero = 1,
  kRgb = 2,
  kIndexed = 3,
  kInks = 5
};

// What the bytes of the densest packing can stand for.
constexpr std::size_t kMostTimes = 4096;

constexpr std::size_t kNone = 1, kLzw = 5, kDeflate = 8, kOldDeflate = 32946, kRuns = 32773;

class TiffReader {
 public:
  TiffReader(std::span<const std::uint8_t> bytes, const DecodeRequest& request)
      : bytes_(bytes), request_(request) {
    const auto directory = TiffDirectory::first(bytes);
    if (!directory) fail_damaged("no directory of tags");
    tags_ = *directory;
  }

  Image read() {
    read_layout();
    read_pieces();
    return colours();
  }

 private:
  [[noreturn]] void fail_damaged(std::string_view reason) const {
    fail(request_.where, fmt::format("the TIFF file is damaged or truncated ({})", reason),
         "Fetch the file again");
  }
  [[noreturn]] void refuse(std::string_view reason) const {
    fail(request_.where, fmt::format("the TIFF file is of a kind that is not decoded ({})", reason),
         "Convert it to PNG, or pass pixels");
  }

  std::vector<std::uint32_t> numbers(TiffTag tag) const {
    return tags_.numbers(static_cast<std::uint32_t>(tag));
  }

  std::size_t number(TiffTag tag, std::size_t otherwise) const {
    const std::vector<std::uint32_t> found = numbers(tag);
    return found.empty() ? otherwise : found.front();
  }

  // The same value for every sample of a pixel.
  std::size_t common(TiffTag tag, std::size_t otherwise) const {
    const std::vector<std::uint32_t> found = numbers(tag);
    for (const std::uint32_t value : found)
      if (value != found.front()) refuse("samples that differ");
    return found.empty() ? otherwise : found.front();
  }

  void read_layout() {
    width_ = number(TiffTag::width, 0);
    height_ = number(TiffTag::height, 0);
    request_.check_size(width_, height_);
    samples_ = number(TiffTag::samples, 1);
    bits_ = common(TiffTag::bits, 1);
    kind_ = number(TiffTag::colours, kBlackIsZero);
    packing_ = number(TiffTag::packing, 1);
    planar_ = number(TiffTag::planes, 1) == 2;
    // The other packings know none, whatever the tag says.
    const bool predicts = packing_ == kLzw || packing_ == kDeflate || packing_ == kOldDeflate;
    const std::size_t predictor = predicts ? number(TiffTag::predictor, 1) : 1;
    predicted_ = predictor == 2;
    if (kind_ != kWhiteIsZero && kind_ != kBlackIsZero && kind_ != kRgb && kind_ != kIndexed &&
        kind_ != kInks)
      refuse(fmt::format("colours of kind {}", kind_));
    const bool narrow = bits_ == 1 || bits_ == 2 || bits_ == 4;
    const bool single = samples_ == 1 && (kind_ != kRgb && kind_ != kInks);
    if (!(bits_ == 8 || (bits_ == 16 && kind_ != kIndexed) || (narrow && single)))
      refuse(fmt::format("{} bits a sample", bits_));
    if (common(TiffTag::sample_format, 1) != 1)
      refuse("samples that are not unsigned whole numbers");
    if (number(TiffTag::fill_order, 1) != 1) refuse("bits in turned order");
    if (predictor > 2) refuse("a predictor of floats");
    if (predicted_ && bits_ < 8) refuse("a predictor of bits");
    colours_ = kind_ == kRgb ? 3 : kind_ == kInks ? 4 : 1;
    if (samples_ < colours_ || samples_ > colours_ + 4)
      refuse(fmt::format("{} samples a pixel", samples_));
    if (width_ * height_ * samples_ * bits_ / 8 / kMostTimes > bytes_.size())
      fail_damaged("more pixels than its bytes can hold");
    values_.resize(width_ * height_ * samples_);
  }

  // Strips, or tiles; of one plane after the other where colours lie apart.
  void read_pieces() {
    const bool tiled = !numbers(TiffTag::tile_width).empty();
    const std::size_t piece_width = tiled ? number(TiffTag::tile_width, 0) : width_;
    const std::size_t rows =
        number(tiled ? TiffTag::tile_height : TiffTag::rows_per_strip, height_);
    const std::size_t piece_height = tiled ? rows : std::min(rows, height_);
    if (piece_width == 0 || piece_height == 0) fail_damaged("pieces without pixels");
    request_.check_size(piece_width, piece_height);
    const std::vector<std::uint32_t> offsets =
        numbers(tiled ? TiffTag::tile_offsets : TiffTag::strip_offsets);
    const std::vector<std::uint32_t> lengths =
        numbers(tiled ? TiffTag::tile_bytes : TiffTag::strip_bytes);
    const std::size_t across = (width_ + piece_width - 1) / piece_width;
    const std::size_t down = (height_ + piece_height - 1) / piece_height;
    const std::size_t planes = planar_ ? samples_ : 1, each = across * down;
    constexpr std::size_t kFilling = 64'000'000;  // of tiles that reach beyond the picture
    if (each * piece_width * piece_height > 4 * width_ * height_ + kFilling)
      fail_damaged("tiles far larger than the picture");
    if (offsets.size() < planes * each || lengths.size() < planes * each)
      fail_damaged("pieces are missing");
    const std::size_t together = planar_ ? 1 : samples_;  // samples of a pixel in one piece
    const std::size_t row_bytes = (piece_width * together * bits_ + 7) / 8;
    for (std::size_t i = 0; i < planes * each; ++i) {
      const std::size_t x0 = i % each % across * piece_width;
      const std::size_t y0 = i % each / across * piece_height;
      // The last strip is as high as what is left; tiles are filled up.
      const std::size_t piece_rows = tiled ? piece_height : std::min(piece_height, height_ - y0);
      if (offsets[i] > bytes_.size() || lengths[i] > bytes_.size() - offsets[i])
        fail_damaged("a piece lies outside");
      const std::vector<std::uint8_t> piece =
          unpack(bytes_.subspan(offsets[i], lengths[i]), row_bytes * piece_rows);
      for (std::size_t y = 0; y < piece_rows && y0 + y < height_; ++y)
        place_row({piece.data() + y * row_bytes, row_bytes}, x0, y0 + y,
                  std::min(piece_width, width_ - x0), together, planar_ ? i / each : 0);
    }
  }

  std::vector<std::uint8_t> unpack(std::span<const std::uint8_t> packed, std::size_t size) const {
    if (size / kMostTimes > packed.size()) fail_damaged("a piece is too short");
    std::optional<std::vector<std::uint8_t>> result;
    if (packing_ == kNone) {
      if (packed.size() >= size)
        result.emplace(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size));
    } else if (packing_ == kLzw) {
      result = unpack_lzw(packed, size);
    } else if (packing_ == kDeflate || packing_ == kOldDeflate) {
      result = unpack_deflate(packed, size);
    } else if (packing_ == kRuns) {
      result = unpack_runs(packed, size);
    } else {
      const bool jpeg = packing_ == 6 || packing_ == 7;
      refuse(fmt::format("packing {}{}", packing_, jpeg ? ", JPEG" : ""));
    }
    if (!result) fail_damaged("a piece cannot be unpacked");
    return std::move(*result);
  }

  // One row of a piece: its samples as 0 to 255, indices of a palette as they are.
  void place_row(std::span<const std::uint8_t> row, std::size_t x0, std::size_t y,
                 std::size_t count, std::size_t together, std::size_t plane) {
    previous_.assign(together, 0);
    for (std::size_t k = 0; k < count * together; ++k) {
      std::size_t value = 0;
      if (bits_ == 16) {
        value = whole_number(row, 2 * k, 2, tags_.big_endian());
      } else {
        const std::size_t bit = k * bits_;
        value = row[bit / 8] >> (8 - bits_ - bit % 8);
      }
      if (predicted_) value += previous_[k % together];
      value &= (std::size_t{1} << bits_) - 1;
      previous_[k % together] = value;
      const std::size_t most = (std::size_t{1} << bits_) - 1;
      const std::size_t x = x0 + k / together, sample = plane + k % together;
      values_[(y * width_ + x) * samples_ + sample] =
          static_cast<std::uint8_t>(kind_ == kIndexed ? value : (value * 255 + most / 2) / most);
    }
  }

  Image colours() const {
    const bool gray = kind_ == kWhiteIsZero || kind_ == kBlackIsZero;
    Image image(static_cast<int>(width_), static_cast<int>(height_),
                gray ? ColorOrder::gray : ColorOrder::rgb);
    const std::vector<std::uint32_t> palette = numbers(TiffTag::palette);
    const std::size_t entries = std::size_t{1} << bits_;
    if (kind_ == kIndexed && palette.size() < 3 * entries) fail_damaged("no palette");
    // Of 16 bits; some programs write 8 all the same.
    const bool narrow = std::ranges::all_of(palette, [](std::uint32_t v) { return v < 256; });
    // 1: colours are composited over black as they are; 2: they are not.
    const std::vector<std::uint32_t> extra = numbers(TiffTag::extra_samples);
    const bool alpha = samples_ > colours_ && !extra.empty() && extra.front() == 2;
    const std::size_t outputs = static_cast<std::size_t>(image.channels());
    for (std::size_t i = 0; i < width_ * height_; ++i) {
      const std::uint8_t* in = values_.data() + i * samples_;
      for (std::size_t c = 0; c < outputs; ++c) {
        int value = in[kind_ == kIndexed ? 0 : c];
        if (kind_ == kIndexed)
          value = static_cast<int>(palette[c * entries + in[0]] >> (narrow ? 0 : 8) & 255);
        if (kind_ == kWhiteIsZero) value = 255 - value;
        if (kind_ == kInks) value = ((255 - value) * (255 - in[3]) + 127) / 255;
        if (alpha) value = (value * in[colours_] + 127) / 255;
        image.data[i * outputs + c] = static_cast<std::uint8_t>(value);
      }
    }
    return image;
  }

  std::span<const std::uint8_t> bytes_;
  const DecodeRequest& request_;
  TiffDirectory tags_;
  std::size_t width_ = 0, height_ = 0, samples_ = 0, bits_ = 0, kind_ = 0, packing_ = 0;
  std::size_t colours_ = 0;
  bool planar_ = false, predicted_ = false;
  std::vector<std::uint8_t> values_;
  std::vector<std::size_t> previous_;
};

}  // namespace

Image decode_tiff(std::span<const std::byte> bytes, const DecodeRequest& request) {
  return TiffReader({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, request)
      .read();
}

int orientation_of_tiff(std::span<const std::byte> bytes) {
  return orientation_of_exif({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace facebench
