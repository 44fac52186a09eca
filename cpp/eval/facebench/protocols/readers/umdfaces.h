#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "facebench/protocols/reader.h"

namespace facebench {

// Pairs drawn out of the faces, pairs_from = "drawn",
struct UmdfacesDrawnOptions {
  std::vector<std::string> csv;
  std::int64_t size = 1;
  std::int64_t seed = 0;
  static void describe(OptionsBuilder<UmdfacesDrawnOptions>& o) {
    o.name("umdfaces", "Pairs that are drawn; the tracks are [[reader.tracks]].");
    o.field("csv", &UmdfacesDrawnOptions::csv, "the files of faces").required = true;
    o.field("size", &UmdfacesDrawnOptions::size,
            "genuine pairs of a track, and as many impostor pairs", 1, 100'000'000)
        .required = true;
    o.field("seed", &UmdfacesDrawnOptions::seed, "of the drawing", 0, 9e15);
  }
};

// for tracks by yaw_from <= |yaw difference| < yaw_below;
struct YawTrackOptions {
  std::string name;
  double yaw_from = 0;
  double yaw_below = 0;
  static void describe(OptionsBuilder<YawTrackOptions>& o) {
    o.name("a umdfaces track", "A range of differences in yaw.");
    o.field("name", &YawTrackOptions::name, "of the track").required = true;
    o.field("yaw_from", &YawTrackOptions::yaw_from, "degrees").required = true;
    o.field("yaw_below", &YawTrackOptions::yaw_below, "degrees").required = true;
  }
};

// or taken from a list, pairs_from = "list".
struct UmdfacesListedOptions {
  std::vector<std::string> csv;
  std::string pairs;
  static void describe(OptionsBuilder<UmdfacesListedOptions>& o) {
    o.name("umdfaces", "Pairs from a list.");
    o.field("csv", &UmdfacesListedOptions::csv, "the files of faces").required = true;
    o.field("pairs", &UmdfacesListedOptions::pairs,
            "CSV file with the columns first, second (values of FILE), label (1 genuine, 0 "
            "impostor) and track")
        .required = true;
  }
};

// UMDFaces: tracks by the difference in yaw between the two faces of a pair. The data set's CSV
// files name, by columns, SUBJECT_ID, FILE, YAW (degrees) and the face's box. Pairs are drawn out
// of them (pairs_from = "drawn") or taken from a list (pairs_from = "list"); the first list of the
// result notes which. Source: Bansal et al., IJCB 2017 (the data), Wang & Guo 2019 (three tracks of
// 5,000 + 5,000).
// Drawn: every pair of the track's kind is equally likely, none comes twice; counter-based random
// numbers keyed by seed, track and class, so a track does not depend on the others. If the faces
// give fewer pairs than `size`, as many of each kind as possible are drawn, and the note says so.
std::unique_ptr<TrialReader> make_umdfaces_reader(const TomlTable& table);

}  // namespace facebench
