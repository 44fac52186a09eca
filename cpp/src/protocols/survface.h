#pragma once

#include <memory>
#include <string>

#include "facebench/protocols/reader.h"

namespace facebench {

struct SurvfaceOptions {
  std::string track;

  static void describe(OptionsBuilder<SurvfaceOptions>& o) {
    o.name("survface", "QMUL-SurvFace's test sets.");
    o.field("track", &SurvfaceOptions::track, "name of the track");
  }
};

// Face_Verification_Test_Set: positive_pairs_names.mat and negative_pairs_names.mat, cell arrays of
// two columns of names, of images in verification_images. Who is on an image is not known: people
// are what genuine pairs connect.
std::unique_ptr<TrialReader> make_survface_pairs_reader(const TomlTable& table);

// Face_Identification_Test_Set: gallery_img_ID_pairs.mat (gallery_set: names, gallery_ids: people)
// and mated_probe_img_ID_pairs.mat (mated_probe_set, mated_probe_ids) of images in gallery and
// mated_probe; the images in unmated_probe, which no list names, are non-mated probes, each a
// person of its own. Where the lists lie in Face_Identification_Evaluation, that folder is found
// beside it.
std::unique_ptr<TrialReader> make_survface_search_reader(const TomlTable& table);

}  // namespace facebench
