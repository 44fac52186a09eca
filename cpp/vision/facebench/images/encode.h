#pragma once

#include <filesystem>
#include <string>

#include "facebench/images/image.h"

namespace facebench {

// A JPEG file: accurate DCT, quality 1 to 100, 4:2:0 chroma below quality 90 and 4:4:4 from there.
// The same image gives the same bytes. Throws std::invalid_argument for a quality out of range or a
// side above 65,535.
std::string encode_jpeg(const Image& image, int quality = 95);
// A PNG file, 8 bits, grey or RGB, zlib level 6.
std::string encode_png(const Image& image);
// A binary PNM file: P5 (grey) or P6.
std::string encode_pnm(const Image& image);

// Writes the whole file or nothing, by extension: .jpg .jpeg .png .pnm .ppm .pgm (any case).
// Throws std::invalid_argument for another extension, Error where it cannot be written.
void write_image(const std::filesystem::path& path, const Image& image, int jpeg_quality = 95);

}  // namespace facebench
