#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/registry.h"

namespace facebench {

// What tells the files of a format from others. How they are decoded: images/decode.h.
struct ImageFileFormat {
  std::string name;                  // as messages call it
  std::vector<std::string> endings;  // of names, in lower case, with the dot
  // Whether a file with these first bytes has this format; at least kFirstBytes of a longer file.
  bool (*begins)(std::string_view bytes);
};
inline constexpr std::size_t kFirstBytes = 16;

// JPEG, PNG, PNM, BMP, TIFF, WebP.
const Table<ImageFileFormat>& image_file_formats();
// Their names for messages, "JPEG, PNG and PNM".
std::string known_image_formats();
// The format of a file with these first bytes; null where it is none of them.
const ImageFileFormat* find_image_file_format(std::string_view bytes);

// Whether it is the ending of an image's name, such as ".jpg", in any case.
bool is_image_ending(std::string_view ending);
// Whether a name ends as those of images do (image_file_formats), in any case.
bool has_image_ending(const std::filesystem::path& path);
// Whether the name ends as an image's or a regular file there begins as one.
bool is_image_file(const std::filesystem::path& path);

// Whether a file or folder of this name is what systems and programs leave in folders of others
// (@eaDir, __MACOSX, lost+found, $RECYCLE.BIN, Thumbs.db, ...), or is hidden: it holds no image of
// a data set. Compared without regard to case.
bool is_litter(std::string_view name);

// The files and folders in a folder, litter left out, in natural order whatever the file system's.
// What was left out goes to `litter`, where one is given. Throws Error where it cannot be read.
std::vector<std::filesystem::path> list_folder(
    const std::filesystem::path& folder, std::vector<std::filesystem::path>* litter = nullptr);
// "Passed over what other programs left: 5 (@eaDir, ann/._0.jpg, ...)."; empty where there is none.
std::string litter_note(const std::vector<std::filesystem::path>& litter);

// A path below a data set's root as the name of a sample or a person. Throws Error where it is not
// UTF-8: packs, embeddings and run folders hold names as UTF-8.
std::string name_of_path(const std::filesystem::path& root, const std::filesystem::path& below);

// Paths relative to the folder, each folder's entries in natural order.
struct ImageFolder {
  std::vector<std::filesystem::path> images;
  std::vector<std::filesystem::path> others;  // files that are passed over
  std::vector<std::filesystem::path> litter;  // files and folders of is_litter()
};

// The images (is_image_file) in a folder and the folders below it; litter is left out, links
// followed. Nothing is decoded. Throws Error where a folder cannot be read or lies deeper than 16
// (a loop of links has no end).
ImageFolder list_images(const std::filesystem::path& folder, const Job& job = {});

}  // namespace facebench
