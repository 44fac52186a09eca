#include <fmt/format.h>

// jpeglib.h uses FILE and size_t and includes neither.
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>
// This one comes after jpeglib.h.
#include <jerror.h>

#include <algorithm>
#include <bitset>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/images/encode.h"
#include "facebench/images/internal/exif.h"
#include "facebench/images/internal/formats.h"

#ifndef LIBJPEG_TURBO_VERSION
#error "libjpeg-turbo is needed: other libjpegs give other pixels"
#endif

// libjpeg reports errors by longjmp. Between setjmp and the end of such a function no object with a
// destructor is made: all of them live in the caller's state.

namespace facebench {
namespace {

struct JpegErrors {
  jpeg_error_mgr manager = {};  // the first member: libjpeg hands back its address
  std::jmp_buf jump = {};
  char message[JMSG_LENGTH_MAX] = {};
  int code = 0;  // of J_MESSAGE_CODE
};

void stop_jpeg(j_common_ptr info) {
  auto* state = reinterpret_cast<JpegErrors*>(info->err);
  state->code = state->manager.msg_code;
  state->manager.format_message(info, state->message);
  std::longjmp(state->jump, 1);
}

// Warnings that cost no pixel; every other one means that pixels are missing or wrong.
bool is_harmless_in_jpeg(j_common_ptr info) {
  switch (info->err->msg_code) {
    case JWRN_JFIF_MAJOR:      // a later JFIF, which changed nothing for the decoder
    case JWRN_NOT_SEQUENTIAL:  // numbers of progressive scans, unused where a file is not one
      return true;
    case JWRN_EXTRANEOUS_DATA:  // between segments; behind a scan its coded data went another way
      return info->is_decompressor != 0 &&
             reinterpret_cast<j_decompress_ptr>(info)->input_scan_number == 0;
    default:
      return false;
  }
}

void on_jpeg_message(j_common_ptr info, int level) {
  if (level < 0 && !is_harmless_in_jpeg(info)) stop_jpeg(info);
}

jpeg_error_mgr* prepare_errors(JpegErrors& state) {
  jpeg_std_error(&state.manager);
  state.manager.error_exit = stop_jpeg;
  state.manager.emit_message = on_jpeg_message;
  return &state.manager;
}

// What the segments tell before anything is decoded.
struct JpegScans {
  std::uint64_t count = 0;
  std::bitset<256> components;  // that some scan holds, by their numbers
};

// From marker to marker; in coded data 0xff stands before 0, a restart marker or the next marker.
JpegScans find_scans(std::span<const std::uint8_t> b) {
  JpegScans scans;
  for (std::size_t at = 2; at + 4 <= b.size();) {
    const void* next = std::memchr(b.data() + at, 0xff, b.size() - at);
    if (!next) break;
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(next) - b.data());
    if (at + 4 > b.size()) break;
    const std::uint8_t code = b[at + 1];
    const bool alone = code == 0 || code == 1 || code == 0xff || (code >= 0xd0 && code <= 0xd8);
    if (alone) {
      ++at;
      continue;
    }
    if (code == 0xd9) break;  // the end of the picture
    if (code == 0xda) {
      ++scans.count;
      const std::size_t components = at + 4 < b.size() ? b[at + 4] : 0;
      for (std::size_t k = at + 5; k < b.size() && k < at + 5 + 2 * components; k += 2)
        scans.components.set(b[k]);
    }
    at += 2 + std::max<std::size_t>(whole_number(b, at + 2, 2, true), 2);
  }
  return scans;
}

// Each scan of a progressive file goes over all pixels again. Those of encoders have about ten.
void check_scans(const JpegScans& scans, std::uint64_t pixels, const DecodeRequest& request) {
  constexpr std::uint64_t kMostScans = 100, kMostPixels = 4'000'000'000;
  if (scans.count > kMostScans || scans.count * pixels > kMostPixels)
    fail(request.where,
         fmt::format("the JPEG file has {} scans of {} pixels; more than {} scans, or {} pixels in "
                     "all of them, are not decoded",
                     scans.count, pixels, kMostScans, kMostPixels));
}

struct JpegReader {
  JpegErrors error;
  jpeg_decompress_struct info = {};
  std::vector<JSAMPROW> rows;

  JpegReader() { info.err = prepare_errors(error); }
  ~JpegReader() { jpeg_destroy_decompress(&info); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
};

bool read_jpeg_header(JpegReader& state, std::span<const std::uint8_t> b) {
  if (setjmp(state.error.jump)) return false;
  jpeg_create_decompress(&state.info);
  jpeg_mem_src(&state.info, b.data(), static_cast<unsigned long>(b.size()));
  jpeg_read_header(&state.info, TRUE);
  return true;
}

// A scan that was lost leaves no warning: the decoder shows what the others told it.
bool all_bits_are_there(const jpeg_decompress_struct& info) {
  if (!info.progressive_mode || info.coef_bits == nullptr) return true;
  for (int c = 0; c < info.num_components; ++c)
    if (std::any_of(info.coef_bits[c], info.coef_bits[c] + DCTSIZE2,
                    [](int missing) { return missing != 0; }))
      return false;
  return true;
}

bool read_jpeg_pixels(JpegReader& state, bool& complete) {
  if (setjmp(state.error.jump)) return false;
  jpeg_start_decompress(&state.info);
  while (state.info.output_scanline < state.info.output_height)
    jpeg_read_scanlines(&state.info, state.rows.data() + state.info.output_scanline,
                        state.info.output_height - state.info.output_scanline);
  complete = all_bits_are_there(state.info);
  jpeg_finish_decompress(&state.info);
  return true;
}

bool has_end_marker(std::span<const std::uint8_t> b) {
  static constexpr std::uint8_t end[] = {0xff, 0xd9};
  return std::find_end(b.begin(), b.end(), std::begin(end), std::end(end)) != b.end();
}

bool is_another_kind(int code) {
  for (const int other :
       {JERR_BAD_PRECISION, JERR_SOF_UNSUPPORTED, JERR_ARITH_NOTIMPL, JERR_NOTIMPL,
        JERR_NOT_COMPILED, JERR_CONVERSION_NOTIMPL, JERR_CCIR601_NOTIMPL, JERR_FRACT_SAMPLE_NOTIMPL,
        JERR_IMAGE_TOO_BIG, JERR_COMPONENT_COUNT})
    if (code == other) return true;
  return false;
}

[[noreturn]] void refuse_kind(const DecodeRequest& request, std::string_view reason) {
  fail(request.where, fmt::format("the JPEG file is of a kind that is not decoded ({})", reason),
       "Convert it to a JPEG of 8 bits or a PNG, or pass pixels");
}

[[noreturn]] void fail_to_decode(const DecodeRequest& request, std::span<const std::uint8_t> b,
                                 std::string_view message) {
  const bool cut = !has_end_marker(b) || message.find("remature end of JPEG") != message.npos;
  fail(request.where,
       fmt::format("the JPEG file is {} ({})", cut ? "truncated" : "damaged", message),
       "Fetch the file again");
}

[[noreturn]] void fail_to_decode(const DecodeRequest& request, std::span<const std::uint8_t> b,
                                 const JpegErrors& error) {
  if (is_another_kind(error.code)) refuse_kind(request, error.message);
  fail_to_decode(request, b, error.message);
}

// R = (255 - C) (255 - K) / 255. Adobe's programs store the inks inverted.
void mix_inks(std::span<const std::uint8_t> inks, bool inverted, Image& image) {
  const int flip = inverted ? 0 : 255;
  for (std::size_t i = 0; i < inks.size() / 4; ++i) {
    const int white = inks[4 * i + 3] ^ flip;
    for (std::size_t c = 0; c < 3; ++c)
      image.data[3 * i + c] =
          static_cast<std::uint8_t>(((inks[4 * i + c] ^ flip) * white + 127) / 255);
  }
}

}  // namespace

Image decode_jpeg(std::span<const std::byte> bytes, const DecodeRequest& request) {
  const std::span b(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  JpegReader state;
  jpeg_decompress_struct& info = state.info;
  if (!read_jpeg_header(state, b)) fail_to_decode(request, b, state.error);
  request.check_size(info.image_width, info.image_height);
  const JpegScans scans = find_scans(b);
  check_scans(scans, static_cast<std::uint64_t>(info.image_width) * info.image_height, request);
  for (int c = 0; c < info.num_components; ++c)
    if (!scans.components[static_cast<std::size_t>(info.comp_info[c].component_id) & 255])
      fail_to_decode(request, b, fmt::format("no scan holds component {}", c + 1));

  const J_COLOR_SPACE space = info.jpeg_color_space;
  const bool gray = space == JCS_GRAYSCALE, four = space == JCS_CMYK || space == JCS_YCCK;
  if (!gray && !four && space != JCS_YCbCr && space != JCS_RGB)
    refuse_kind(request, fmt::format("{} components of unknown colours", info.num_components));
  info.out_color_space = gray ? JCS_GRAYSCALE : four ? JCS_CMYK : JCS_RGB;
  const int width = static_cast<int>(info.image_width);
  const int height = static_cast<int>(info.image_height);
  Image image(width, height, gray ? ColorOrder::gray : ColorOrder::rgb);
  std::vector<std::uint8_t> inks;
  if (four) inks.resize(static_cast<std::size_t>(width) * height * 4);
  std::uint8_t* const first = four ? inks.data() : image.data.data();
  const std::size_t stride = four ? static_cast<std::size_t>(width) * 4 : image.stride();
  for (int y = 0; y < height; ++y)
    state.rows.push_back(first + stride * static_cast<std::size_t>(y));
  bool complete = false;
  if (!read_jpeg_pixels(state, complete)) fail_to_decode(request, b, state.error);
  if (!complete) fail_to_decode(request, b, "scans of the progressive file are missing");
  if (four) mix_inks(inks, info.saw_Adobe_marker, image);
  return image;
}

int orientation_of_jpeg(std::span<const std::byte> bytes) {
  const std::span b(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  for (std::size_t at = 2; at + 4 <= b.size() && b[at] == 0xff;) {
    const std::uint8_t code = b[at + 1];
    if (code == 0xff) {  // filling
      ++at;
      continue;
    }
    if (code == 0xda || code == 0xd9) break;  // coded data, or the end
    if (code == 0x01 || (code >= 0xd0 && code <= 0xd8)) {
      at += 2;
      continue;
    }
    const std::size_t length = whole_number(b, at + 2, 2, true);
    if (length < 2 || length > b.size() - at - 2) break;
    const auto body = b.subspan(at + 4, length - 2);
    if (code == 0xe1 && body.size() >= 6 && std::memcmp(body.data(), "Exif\0", 6) == 0)
      return orientation_of_exif(body);
    at += 2 + length;
  }
  return 1;
}

namespace {

struct JpegWriter {
  JpegErrors error;
  jpeg_compress_struct info = {};
  std::vector<JSAMPROW> rows;
  unsigned char* out = nullptr;
  unsigned long size = 0;

  JpegWriter() { info.err = prepare_errors(error); }
  ~JpegWriter() {
    jpeg_destroy_compress(&info);
    std::free(out);  // NOLINT: libjpeg took it by malloc
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;
};

bool write_jpeg_pixels(JpegWriter& state, const Image& image, int quality) {
  if (setjmp(state.error.jump)) return false;
  jpeg_compress_struct& info = state.info;
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &state.out, &state.size);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = image.channels();
  info.in_color_space = image.order == ColorOrder::gray  ? JCS_GRAYSCALE
                        : image.order == ColorOrder::rgb ? JCS_RGB
                                                         : JCS_EXT_BGR;
  jpeg_set_defaults(&info);  // colours are subsampled by two in both directions
  jpeg_set_quality(&info, quality, TRUE);
  if (quality >= 90) info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&info, TRUE);
  jpeg_write_scanlines(&info, state.rows.data(), info.image_height);
  jpeg_finish_compress(&info);
  return true;
}

}  // namespace

std::string encode_jpeg(const Image& image, int quality) {
  check_image(image);
  if (quality < 1 || quality > 100)
    throw std::invalid_argument(fmt::format("JPEG quality is 1 to 100, not {}", quality));
  if (image.width > JPEG_MAX_DIMENSION || image.height > JPEG_MAX_DIMENSION)
    throw std::invalid_argument("a JPEG file has at most 65,500 pixels a side");
  JpegWriter state;
  for (int y = 0; y < image.height; ++y)
    state.rows.push_back(const_cast<JSAMPROW>(image.row(y)));  // libjpeg only reads them
  if (!write_jpeg_pixels(state, image, quality))
    throw Error(fmt::format("the JPEG encoder failed: {}", state.error.message));
  return std::string(reinterpret_cast<const char*>(state.out), state.size);
}

}  // namespace facebench
