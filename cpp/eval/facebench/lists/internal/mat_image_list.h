#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "facebench/trials/blemishes.h"
#include "facebench/trials/trials.h"

namespace facebench {

// QMUL's lists of images in MAT files, and its folders whose images no list names.

// A cell array of names, WHAT_set, and as many people, WHAT_ids; the images lie in `folder`.
struct MatImageList {
  std::string file, what, folder;
};
// The samples of a list, FOLDER/NAME, in its order. Errors: names and people that differ in number,
// a person's number that is not a whole number, a name twice, a name with a folder, more than a
// tenth of the names beginning with another person's number.
std::vector<std::int32_t> read_mat_image_list(const std::filesystem::path& lists,
                                              const MatImageList& list, TrialSet& set,
                                              TrialSetBuilder& builder, Blemishes& blemishes);

// Every file of a folder, called PREFIX/NAME and each a person of its own, in natural order; hidden
// files are passed over. The names' hash stands in the set's lists as `title`. Throws Error for a
// folder that cannot be read or has no file.
std::vector<std::int32_t> add_unlisted_images(const std::filesystem::path& folder,
                                              const std::string& prefix, const std::string& title,
                                              TrialSet& set, TrialSetBuilder& builder);

// A cell array of two columns, the rows being pairs of names, whose file and hash then stand in the
// set's lists. Throws Error for another shape and for an empty one.
std::vector<std::vector<std::string>> read_mat_pairs(const std::filesystem::path& path,
                                                     const std::string& variable, TrialSet& set);

}  // namespace facebench
