#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

// UMDFaces: tracks by the difference in yaw between the two faces of a pair. The data set's CSV
// files name, by columns, SUBJECT_ID, FILE, YAW (degrees) and the face's box. Pairs are drawn out
// of them (pairs_from = "drawn") or taken from a list (pairs_from = "list"); the first list of the
// result notes which. Source: Bansal et al., IJCB 2017 (the data), Wang & Guo 2019 (three tracks of
// 5,000 + 5,000).
//
// Keys: csv (the files), pairs_from; for "drawn": size (genuine, and as many impostor, pairs of a
// track), seed, and an array of tables `tracks` with name, and yaw_from and yaw_below in degrees (a
// pair belongs to the track where yaw_from <= |yaw difference| < yaw_below); for "list": pairs, a
// CSV file with the columns first, second (values of FILE), label (1 genuine, 0 impostor) and
// track.
// Drawn: every pair of the track's kind is equally likely, none comes twice; counter-based random
// numbers keyed by seed, track and class, so a track does not depend on the others. Faces that give
// fewer pairs than `size` are taken for as many of each kind as they give, and the note says so.
std::unique_ptr<TrialReader> make_umdfaces_reader(const TomlTable& table);

}  // namespace facebench
