#include "facebench/images/decode.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "facebench/core/error.h"
#include "facebench/images/encode.h"
#include "images/pattern.h"

namespace facebench {
namespace {

Image decode(std::string_view bytes, const DecodeOptions& options = {}) {
  return decode_image(std::as_bytes(std::span(bytes)), options, "test");
}

TEST(Codec, LosslessFormatsRoundTrip) {
  for (const ColorOrder order : {ColorOrder::rgb, ColorOrder::bgr, ColorOrder::gray}) {
    const Image image = pattern(13, 9, order);
    DecodeOptions options;
    options.color = color_order_name(order);
    EXPECT_EQ(decode(encode_png(image), options), image);
    EXPECT_EQ(decode(encode_pnm(image), options), image);
    EXPECT_EQ(encode_jpeg(image), encode_jpeg(image));
  }
}

TEST(Codec, TruncatedFilesAreErrorsThatSaySo) {
  const Image image = pattern(40, 40);
  for (const std::string& file : {encode_jpeg(image), encode_png(image), encode_pnm(image)}) {
    try {
      decode(std::string_view(file).substr(0, file.size() * 3 / 4));
      FAIL() << "decoded half a file";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("test: "), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("truncated"), std::string::npos) << e.what();
    }
  }
}

TEST(Codec, PixelLimitHoldsForEveryFormat) {
  const Image image = pattern(20, 10);
  DecodeOptions options;
  options.max_pixels = 199;
  for (const std::string& file : {encode_jpeg(image), encode_png(image), encode_pnm(image)}) {
    EXPECT_THROW(decode(file, options), Error);
    options.max_pixels = 200;
    EXPECT_EQ(decode(file, options).width, 20);
    options.max_pixels = 199;
  }
}

}  // namespace
}  // namespace facebench
