#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

struct LfwPairsOptions {
  std::string pairs = "pairs.txt";
  std::string track = "pairs";
  std::string extension = ".jpg";
  static void describe(OptionsBuilder<LfwPairsOptions>& o) {
    o.name("lfw_pairs", "LFW's pairs.");
    o.field("pairs", &LfwPairsOptions::pairs, "the list");
    o.field("track", &LfwPairsOptions::track, "name of the track");
    o.field("extension", &LfwPairsOptions::extension, "of the photographs' files");
  }
};

// LFW's pair lists. The first line is `FOLDS<tab>N` (View 2) or `N` (View 1, one set without
// folds); then for each fold N lines `NAME<tab>I<tab>J` (two photographs of one person) and N lines
// `NAME_A<tab>I<tab>NAME_B<tab>J`. Numbers count from 1; photograph I of NAME is the file
// NAME/NAME_%04d.jpg. Source: the README of the data set (Huang et al. 2007, section III).
std::unique_ptr<TrialReader> make_lfw_pairs_reader(const TomlTable& table);

}  // namespace facebench
