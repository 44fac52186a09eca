#include <fmt/format.h>

#include <cstring>
#include <string>

#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/images/encode.h"
#include "facebench/images/internal/formats.h"

namespace facebench {
namespace {

// Walks over the numbers of a header or of a plain (text) body; "#" starts a comment.
class Numbers {
 public:
  Numbers(std::span<const std::byte> bytes, const DecodeRequest& request)
      : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()), request_(request) {}

  std::uint32_t next(std::string_view what) {
    skip_space();
    if (at_ >= text_.size())
      fail(request_.where, "the PNM file is truncated", "Fetch the file again");
    std::uint64_t value = 0;
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value = value * 10 + static_cast<std::uint64_t>(text_[at_++] - '0');
      if (value > 0x7fffffff)
        fail(at_byte(request_.where, start), fmt::format("the {} is too large", what));
    }
    if (at_ == start)
      fail(at_byte(request_.where, start), fmt::format("the {} is not a number", what));
    return static_cast<std::uint32_t>(value);
  }

  // The one white-space character that ends a binary file's header.
  std::size_t end_of_header() {
    if (at_ >= text_.size())
      fail(request_.where, "the PNM file is truncated", "Fetch the file again");
    if (!is_ascii_space(text_[at_]))
      fail(at_byte(request_.where, at_), "the header does not end in white space");
    return at_ + 1;
  }

  std::size_t position() const { return at_; }

 private:
  void skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (is_ascii_space(text_[at_])) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  const DecodeRequest& request_;
  std::size_t at_ = 2;  // behind "P6"
};

}  // namespace

Image decode_pnm(std::span<const std::byte> bytes, const DecodeRequest& request) {
  const char kind = static_cast<char>(bytes[1]);
  const bool plain = kind == '2' || kind == '3';
  const bool gray = kind == '2' || kind == '5';
  Numbers numbers(bytes, request);
  const std::uint32_t width = numbers.next("width"), height = numbers.next("height");
  const std::uint32_t maxval = numbers.next("largest value");
  request.check_size(width, height);
  if (maxval < 1 || maxval > 65535)
    fail(request.where, fmt::format("the PNM file's largest value is {}, not 1 to 65535", maxval));

  const std::size_t values = static_cast<std::size_t>(width) * height * (gray ? 1 : 3);
  const std::size_t value_bytes = maxval < 256 ? 1 : 2;
  const std::size_t start = plain ? numbers.position() : numbers.end_of_header();
  // A plain value takes two bytes (the last one may lack its space).
  const std::size_t needed = plain ? 2 * values - 1 : value_bytes * values;
  if (start > bytes.size() || bytes.size() - start < needed)
    fail(request.where,
         fmt::format("the PNM file is truncated: {} x {} pixels need {} bytes, {} are there", width,
                     height, needed, start > bytes.size() ? 0 : bytes.size() - start),
         "Fetch the file again");

  Image image(static_cast<int>(width), static_cast<int>(height),
              gray ? ColorOrder::gray : ColorOrder::rgb);
  const auto* body = reinterpret_cast<const std::uint8_t*>(bytes.data()) + start;
  if (!plain && maxval == 255) {
    std::memcpy(image.data.data(), body, values);
    return image;
  }
  for (std::size_t i = 0; i < values; ++i) {
    std::uint32_t value = 0;
    if (plain)
      value = numbers.next("value of a pixel");
    else if (value_bytes == 1)
      value = body[i];
    else
      value = static_cast<std::uint32_t>(body[2 * i]) << 8 | body[2 * i + 1];
    if (value > maxval)
      fail(request.where,
           fmt::format("pixel value {} is above the largest value {}", value, maxval));
    image.data[i] = static_cast<std::uint8_t>((value * 255 + maxval / 2) / maxval);
  }
  return image;
}

std::string encode_pnm(const Image& image) {
  check_image(image);
  const bool gray = image.order == ColorOrder::gray;
  std::string out = fmt::format("P{}\n{} {}\n255\n", gray ? 5 : 6, image.width, image.height);
  const Image rgb = convert_color(image, gray ? ColorOrder::gray : ColorOrder::rgb);
  out.append(reinterpret_cast<const char*>(rgb.data.data()), rgb.data.size());
  return out;
}

}  // namespace facebench
