#include "facebench/images/encode.h"

#include <fmt/format.h>

#include <stdexcept>

#include "facebench/core/numbers.h"
#include "facebench/io/file.h"

namespace facebench {

void write_image(const std::filesystem::path& path, const Image& image, int jpeg_quality) {
  const std::string extension = lower_ascii(path.extension().string());
  if (extension == ".jpg" || extension == ".jpeg") {
    write_file(path, encode_jpeg(image, jpeg_quality));
  } else if (extension == ".png") {
    write_file(path, encode_png(image));
  } else if (extension == ".pnm" || extension == ".ppm" || extension == ".pgm") {
    write_file(path, encode_pnm(image));
  } else {
    throw std::invalid_argument(fmt::format(
        "cannot tell a format by the extension of '{}'; use .jpg, .png or .ppm", path.string()));
  }
}

}  // namespace facebench
