#pragma once

#include <memory>
#include <string>

#include "facebench/protocols/reader.h"

namespace facebench {

struct TinyfaceOptions {
  std::string track = "search";

  static void describe(OptionsBuilder<TinyfaceOptions>& o) {
    o.name("tinyface", "TinyFace's test set.");
    o.field("track", &TinyfaceOptions::track, "name of the track");
  }
};

// TinyFace: gallery_match_img_ID_pairs.mat (gallery_set: names, gallery_ids: people) and
// probe_img_ID_pairs.mat (probe_set, probe_ids) in the folder of the lists, whose folders
// Gallery_Match, Probe and Gallery_Distractor hold the images. The gallery is the first and the
// last of these; who is on a distractor is not known, and each counts as somebody else. Errors: a
// list whose names and people differ in number, a person's number that is no whole number, a name
// twice, a name with a folder, no distractor.
std::unique_ptr<TrialReader> make_tinyface_reader(const TomlTable& table);

}  // namespace facebench
