#pragma once

#include <memory>
#include <string>

#include "facebench/protocols/reader.h"

namespace facebench {

struct MatSearchOptions {
  std::string track = "search";

  static void describe(OptionsBuilder<MatSearchOptions>& o) {
    o.name("mat_search", "QMUL's test sets of searches.");
    o.field("track", &MatSearchOptions::track, "name of the track");
  }
};

// QMUL's test sets for identification: two MAT lists of images and people, and a folder of images
// of other people, which no list names; each of those counts as a person of its own. Errors: a
// list whose names and people differ in number, a person's number that is no whole number, a name
// twice, a name with a folder, a folder without an image.

// TinyFace: gallery_match_img_ID_pairs.mat and probe_img_ID_pairs.mat beside the folders
// Gallery_Match, Probe and Gallery_Distractor; distractors belong to the gallery.
std::unique_ptr<TrialReader> make_tinyface_reader(const TomlTable& table);

// SurvFace's Face_Identification_Test_Set: gallery_img_ID_pairs.mat and
// mated_probe_img_ID_pairs.mat beside gallery, mated_probe and unmated_probe, whose images are
// non-mated probes. Where the lists lie in Face_Identification_Evaluation, the folders are found
// beside it.
std::unique_ptr<TrialReader> make_survface_search_reader(const TomlTable& table);

}  // namespace facebench
