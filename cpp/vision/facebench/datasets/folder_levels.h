#pragma once

#include <string>

#include "facebench/datasets/dataset.h"

namespace facebench {

// Folders of people are one level of folders. Where a set is in parts (train/ann, gallery/ann), or
// people have folders in theirs (ann/frontal, ann/video_1), there are two, and which of them the
// people are is told by how often the inner names come: many different ones that come again below a
// few outer folders are people in parts, few that come again below many are parts of people.

// Looks at a set whose people are the outer folders, ROOT/OUTER/INNER/IMAGE with the ids OUTER/...
// Throws Error where these are rather parts of a set: two of them or all are called as parts are
// (train, test_set, fold1, gallery), or at most twelve hold nothing but folders, of at least four
// times as many names, half of which or more are in several. Adds a note where it is open.
void look_for_parts(Dataset& dataset);

// The same images, with the inner folders as people; one in several outer folders is one person.
// Images that lie in no inner folder are passed over. Throws Error where there is no inner folder.
Dataset people_of_inner_folders(Dataset dataset);

}  // namespace facebench
