#pragma once

#include <memory>
#include <string>

#include "facebench/protocols/reader.h"

namespace facebench {

struct SurvfaceOptions {
  std::string track = "pairs";

  static void describe(OptionsBuilder<SurvfaceOptions>& o) {
    o.name("survface", "QMUL-SurvFace's pairs.");
    o.field("track", &SurvfaceOptions::track, "name of the track");
  }
};

// Face_Verification_Test_Set: positive_pairs_names.mat and negative_pairs_names.mat, cell arrays of
// two columns of names, of images in verification_images. Who is on an image is not known: people
// are what genuine pairs connect.
std::unique_ptr<TrialReader> make_survface_pairs_reader(const TomlTable& table);

}  // namespace facebench
