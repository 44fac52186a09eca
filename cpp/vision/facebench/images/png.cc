#include <fmt/format.h>
#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/images/encode.h"
#include "facebench/images/internal/exif.h"
#include "facebench/images/internal/formats.h"

// libpng reports errors by longjmp. Between setjmp and the end of such a function no object with a
// destructor is made: all of them live in the caller's state.

namespace facebench {
namespace {

struct ReadState {
  std::span<const std::byte> bytes;
  std::size_t at = 0;
  bool truncated = false;
  char message[200] = {};
  // Filled by read_header().
  png_uint_32 width = 0, height = 0;
  bool gray = false, alpha = false, interlaced = false;
  // Packed pixels that may still be read: libpng unpacks what follows the last row, to whatever it
  // grows, before it says that it is too much.
  png_size_t packed_row = 0;  // bytes of a row before it is packed
  png_size_t packed_left = PNG_SIZE_MAX;
  std::vector<std::uint8_t> pixels;
  std::vector<png_bytep> rows;
};

void on_error(png_structp png, png_const_charp message) {
  auto* state = static_cast<ReadState*>(png_get_error_ptr(png));
  std::strncpy(state->message, message, sizeof(state->message) - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep out, png_size_t count) {
  auto* state = static_cast<ReadState*>(png_get_io_ptr(png));
  if (state->bytes.size() - state->at < count) {
    state->truncated = true;
    png_error(png, "the data end early");
  }
  constexpr png_uint_32 kIdat = 0x49444154;
  if ((png_get_io_state(png) & PNG_IO_MASK_LOC) == PNG_IO_CHUNK_DATA &&
      png_get_io_chunk_type(png) == kIdat) {
    if (count > state->packed_left) png_error(png, "more packed data than the pixels need");
    state->packed_left -= count;
  }
  std::memcpy(out, state->bytes.data() + state->at, count);
  state->at += count;
}

bool read_header(png_structp png, png_infop info, ReadState& state) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_read_info(png, info);
  state.width = png_get_image_width(png, info);
  state.height = png_get_image_height(png, info);
  return true;
}

// Comes after the check of the size: libpng takes memory for rows here.
bool choose_layout(png_structp png, png_infop info, ReadState& state) {
  if (setjmp(png_jmpbuf(png))) return false;
  const int type = png_get_color_type(png, info);
  const int depth = png_get_bit_depth(png, info);
  const bool transparent = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (type == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (transparent) png_set_tRNS_to_alpha(png);
  if (depth == 16) png_set_scale_16(png);
  state.interlaced = png_set_interlace_handling(png) > 1;
  state.packed_row = png_get_rowbytes(png, info) + 1;
  png_read_update_info(png, info);
  state.gray = !(type & PNG_COLOR_MASK_COLOR);
  state.alpha = (type & PNG_COLOR_MASK_ALPHA) || transparent;
  return true;
}

bool read_pixels(png_structp png, ReadState& state) {
  if (setjmp(png_jmpbuf(png))) return false;
  // With interlacing rows come in seven passes, the odd ones in the last. Of two rows, passes take
  // 32 bytes more for filters and for the rests of bytes.
  constexpr std::size_t kReadAhead = 8192;
  const std::size_t most = 2 * compressBound(2 * state.packed_row + 32) + kReadAhead;
  const std::size_t height = state.rows.size(), last = state.interlaced ? 6 : 0;
  for (std::size_t pass = 0; pass <= last; ++pass)
    for (std::size_t y = 0; y < height; ++y) {
      if (y + 2 >= height && (pass == last || height <= 2))
        state.packed_left = std::min(state.packed_left, most);
      png_read_row(png, state.rows[y], nullptr);
    }
  png_read_end(png, nullptr);
  return true;
}

struct Reader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  explicit Reader(ReadState& state) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
    if (png) info = png_create_info_struct(png);
    if (!info) {
      png_destroy_read_struct(&png, nullptr, nullptr);
      throw Error("the PNG decoder cannot be started");
    }
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
};

[[noreturn]] void fail_to_decode(const DecodeRequest& request, const ReadState& state) {
  fail(request.where,
       state.truncated ? std::string("the PNG file is truncated")
                       : fmt::format("the PNG file is damaged ({})", state.message),
       "Fetch the file again");
}

struct WriteState {
  std::string bytes;
  char message[200] = {};
  std::vector<png_bytep> rows;
};

void on_write_error(png_structp png, png_const_charp message) {
  auto* state = static_cast<WriteState*>(png_get_error_ptr(png));
  std::strncpy(state->message, message, sizeof(state->message) - 1);
  png_longjmp(png, 1);
}

void write_bytes(png_structp png, png_bytep data, png_size_t count) {
  static_cast<WriteState*>(png_get_io_ptr(png))
      ->bytes.append(reinterpret_cast<const char*>(data), count);
}

bool write_pixels(png_structp png, png_infop info, const Image& image, WriteState& state) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_compression_level(png, 6);
  png_set_IHDR(png, info, image.width, image.height, 8,
               image.order == ColorOrder::gray ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  if (image.order == ColorOrder::bgr) png_set_bgr(png);
  png_write_image(png, state.rows.data());
  png_write_end(png, nullptr);
  return true;
}

}  // namespace

Image decode_png(std::span<const std::byte> bytes, const DecodeRequest& request) {
  ReadState state;
  state.bytes = bytes;
  const Reader reader(state);
  png_set_read_fn(reader.png, &state, read_bytes);
  // Our own check follows with a clearer sentence.
  png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  // Texts and profiles, which may be packed, are skipped: 2 MB of them unpack to 2 GB.
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  if (!read_header(reader.png, reader.info, state)) fail_to_decode(request, state);
  request.check_size(state.width, state.height);
  if (!choose_layout(reader.png, reader.info, state)) fail_to_decode(request, state);

  const std::size_t colors = state.gray ? 1 : 3;
  const std::size_t channels = colors + (state.alpha ? 1 : 0);
  const std::size_t stride = state.width * channels;
  if (png_get_rowbytes(reader.png, reader.info) != stride)
    fail(request.where, "the PNG file has an unknown layout");
  state.pixels.resize(stride * state.height);
  for (std::size_t y = 0; y < state.height; ++y)
    state.rows.push_back(state.pixels.data() + y * stride);
  if (!read_pixels(reader.png, state)) fail_to_decode(request, state);

  Image image(static_cast<int>(state.width), static_cast<int>(state.height),
              state.gray ? ColorOrder::gray : ColorOrder::rgb);
  if (!state.alpha) {
    image.data = std::move(state.pixels);
    return image;
  }
  const std::size_t count = static_cast<std::size_t>(state.width) * state.height;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* p = &state.pixels[i * channels];
    for (std::size_t c = 0; c < colors; ++c)
      image.data[i * colors + c] = static_cast<std::uint8_t>((p[c] * p[colors] + 127) / 255);
  }
  return image;
}

int orientation_of_png(std::span<const std::byte> bytes) {
  const std::span b(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  for (std::size_t at = 8; at + 12 <= b.size();) {
    const std::size_t length = whole_number(b, at, 4, true);
    if (length > b.size() - at - 12) break;
    if (std::memcmp(b.data() + at + 4, "eXIf", 4) == 0)
      return orientation_of_exif(b.subspan(at + 8, length));
    at += 12 + length;
  }
  return 1;
}

std::string encode_png(const Image& image) {
  check_image(image);
  WriteState state;
  for (int y = 0; y < image.height; ++y)
    state.rows.push_back(const_cast<png_bytep>(image.row(y)));  // libpng only reads them
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, &state, on_write_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (!info) {
    png_destroy_write_struct(&png, nullptr);
    throw Error("the PNG encoder cannot be started");
  }
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_write_fn(png, &state, write_bytes, nullptr);
  const bool done = write_pixels(png, info, image, state);
  png_destroy_write_struct(&png, &info);
  if (!done) throw Error(fmt::format("the PNG encoder failed: {}", state.message));
  return std::move(state.bytes);
}

}  // namespace facebench
