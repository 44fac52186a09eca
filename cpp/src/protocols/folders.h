#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

// People of one's own: a folder for each person, images in it (.jpg, .jpeg, .png, .pgm, .ppm, .pnm
// in any case; files and folders that begin with a point are passed over, other files are noted).
// Every image is compared with every other (dense track `verification`); the first image of
// everybody who has two or more is a gallery in which all others are searched (`identification`;
// people with a single image are searched without being there).
//
// What would spoil the numbers is an Error that names the files: fewer than two people, nobody with
// two images, the same file twice (by its bytes), whoever it is under; more than `max_images`.
//
// Keys: max_images (20,000: the scores of their searches are kept).
std::unique_ptr<TrialReader> make_folders_reader(const TomlTable& table);

}  // namespace facebench
