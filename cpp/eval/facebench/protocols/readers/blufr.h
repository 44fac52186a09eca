#pragma once

#include <memory>
#include <string>

#include "facebench/protocols/reader.h"

namespace facebench {

struct BlufrOptions {
  std::string file = "blufr_lfw_config.mat";
  std::string task = "verification";

  static void describe(OptionsBuilder<BlufrOptions>& o) {
    o.name("blufr", "BLUFR's random divisions of LFW.");
    o.field("file", &BlufrOptions::file, "the MAT file of the toolkit");
    o.choice("task", &BlufrOptions::task, "what a trial is", {"verification", "identification"});
  }
};

// BLUFR (Liao et al., IJCB 2014): imageList (names NAME_0001.jpg), labels (a person for each), and
// for each trial the images' places in that list, from 1 on: testIndex, galIndex, probIndex. A
// track for each trial, trial1, trial2, ...: all pairs of its test images, or its probes searched
// in its gallery. Errors: variables whose lengths disagree, names and labels that group the images
// differently, a place outside of the list, that is no whole number or that is there twice in one
// trial, a gallery or probe image that is no test image of the trial.
std::unique_ptr<TrialReader> make_blufr_reader(const TomlTable& table);

}  // namespace facebench
