#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

struct FoldersOptions {
  std::int64_t max_images = 20'000;
  static void describe(OptionsBuilder<FoldersOptions>& o) {
    o.name("folders", "A folder for each person.");
    o.field("max_images", &FoldersOptions::max_images,
            "more are an error: the scores of all their searches are kept", 2, 100'000);
  }
};

// People of one's own: a folder for each person, images in it (.jpg, .jpeg, .png, .pgm, .ppm, .pnm
// in any case; files and folders that begin with a point are passed over, other files and folders
// are skipped and noted). Every image is compared with every other (dense track `verification`);
// the first image of everybody who has two or more is a gallery in which all others are searched
// (`identification`; images of people with a single image are non-mated probes).
//
// Of files with equal bytes the first counts if all are one person's, else none does; a note says
// so. Errors: fewer than two people, nobody with two images, more than `max_images` images.
std::unique_ptr<TrialReader> make_folders_reader(const TomlTable& table);

}  // namespace facebench
