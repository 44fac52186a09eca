#include "facebench/images/decode.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/images/internal/exif.h"
#include "facebench/images/internal/formats.h"
#include "facebench/io/file.h"
#include "facebench/io/image_files.h"

namespace facebench {
namespace {

using namespace std::string_view_literals;

bool starts_with(std::string_view text, std::string_view prefix, std::size_t at = 0) {
  return text.size() >= at + prefix.size() && text.substr(at, prefix.size()) == prefix;
}

// Formats that people do have and that this library leaves to others.
std::string_view other_format(std::string_view text) {
  if (starts_with(text, "GIF8")) return "a GIF file";
  if (starts_with(text, "II+\0"sv) || starts_with(text, "MM\0+"sv)) return "a BigTIFF file";
  if (starts_with(text, "ftypavif", 4)) return "an AVIF file";
  if (starts_with(text, "ftyp", 4)) return "a HEIF or MP4 file";
  if (starts_with(text, "\0\0\0\x0cjP  "sv) || starts_with(text, "\xff\x4f\xff\x51"))
    return "a JPEG 2000 file";
  if (starts_with(text, "P1") || starts_with(text, "P4")) return "a bitmap (PBM)";
  if (starts_with(text, "P7")) return "a PAM file";
  if (starts_with(text, "\x1f\x8b")) return "a gzip file";
  if (starts_with(text, "PK\x03\x04")) return "a ZIP archive";
  if (starts_with(text, "%PDF")) return "a PDF file";
  if (starts_with(text, "<")) return "an HTML or XML text";
  return "not an image";
}

}  // namespace

void DecodeOptions::describe(OptionsBuilder<DecodeOptions>& o) {
  o.name("DecodeOptions", "How an image file becomes pixels.");
  o.choice("color", &DecodeOptions::color, "colour order of the result", {"rgb", "bgr", "gray"});
  o.field("max_pixels", &DecodeOptions::max_pixels,
          "largest width x height that is accepted; checked before anything is allocated", 1,
          2'000'000'000);
  o.field("exif_orientation", &DecodeOptions::exif_orientation,
          "turn a picture the way its Exif tag says (the references do not)");
}

void DecodeRequest::check_size(std::uint64_t width, std::uint64_t height) const {
  if (width == 0 || height == 0)
    fail(where, fmt::format("the image is {} x {} pixels", width, height));
  constexpr std::uint64_t side = std::numeric_limits<std::int32_t>::max();
  if (width > side || height > side || width * height > static_cast<std::uint64_t>(max_pixels))
    fail(where,
         fmt::format("the image claims {} x {} pixels, more than the {} that are accepted", width,
                     height, max_pixels),
         "Raise the option max_pixels if you trust the file");
}

const Table<ImageFormat>& image_formats() {
  static const Table<ImageFormat> table("image format",
                                        {
                                            {"JPEG", decode_jpeg, orientation_of_jpeg},
                                            {"PNG", decode_png, orientation_of_png},
                                            {"PNM", decode_pnm},
                                            {"BMP", decode_bmp},
                                            {"TIFF", decode_tiff, orientation_of_tiff},
                                            {"WebP", decode_webp, orientation_of_webp},
                                        });
  return table;
}

Image decode_image(std::span<const std::byte> bytes, const DecodeOptions& options,
                   std::string_view where) {
  check_options(options);
  if (bytes.empty()) fail(where, "the file is empty");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const ImageFileFormat* format = find_image_file_format(text);
  if (!format) {
    fail(where, fmt::format("{}, by its first bytes", other_format(text)),
         known_image_formats() + " are read; convert it, or pass pixels");
  }
  Image image = image_formats().at(format->name).decode(bytes, {options.max_pixels, where});
  if (options.exif_orientation) image = turn(std::move(image), exif_orientation(bytes));
  return convert_color(std::move(image), parse_color_order(options.color));
}

int exif_orientation(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const ImageFileFormat* found = find_image_file_format(text);
  if (!found) return 1;
  const ImageFormat& format = image_formats().at(found->name);
  return format.orientation == nullptr ? 1 : format.orientation(bytes);
}

Image read_image(const std::filesystem::path& path, const DecodeOptions& options) {
  const std::string bytes = read_file(path);
  return decode_image(std::as_bytes(std::span(bytes)), options, path.string());
}

}  // namespace facebench
