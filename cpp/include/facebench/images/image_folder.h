#pragma once

#include <filesystem>
#include <vector>

#include "facebench/core/job.h"

namespace facebench {

// The files and folders in a folder, hidden ones left out, in natural order whatever the file
// system's. Throws Error where it cannot be read.
std::vector<std::filesystem::path> list_folder(const std::filesystem::path& folder);

// Whether a name ends as those of JPEG, PNG and PNM files do: .jpg .jpeg .png .pnm .ppm .pgm, in
// any case.
bool has_image_ending(const std::filesystem::path& path);

// Paths relative to the folder, each folder's entries in natural order.
struct ImageFolder {
  std::vector<std::filesystem::path> images;
  std::vector<std::filesystem::path> others;  // files that are passed over
};

// The images (JPEG, PNG, PNM: told by the ending of the name, else by the first bytes) in a folder
// and the folders below it; hidden ones are left out, links followed. Nothing is decoded. Throws
// Error where a folder cannot be read or lies deeper than 16 (a loop of links has no end).
ImageFolder list_images(const std::filesystem::path& folder, const Job& job = {});

}  // namespace facebench
