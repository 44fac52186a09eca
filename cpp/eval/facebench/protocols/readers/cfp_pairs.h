#pragma once

#include <memory>

#include "facebench/protocols/reader.h"
#include "facebench/protocols/readers/sample_names.h"

namespace facebench {

struct CfpPairsOptions {
  std::string split;
  std::string first;
  std::string second;
  std::int64_t folds = 10;
  std::string track = "pairs";
  std::string identity = "parent_folder";
  static void describe(OptionsBuilder<CfpPairsOptions>& o) {
    o.name("cfp_pairs", "Celebrities in Frontal-Profile.");
    o.choice("split", &CfpPairsOptions::split, "the folder below Split", {"FF", "FP"}).required =
        true;
    o.choice("first", &CfpPairsOptions::first, "the image list that a pair's first number is of",
             {"F", "P"})
        .required = true;
    o.choice("second", &CfpPairsOptions::second, "the image list that a pair's second number is of",
             {"F", "P"})
        .required = true;
    o.field("folds", &CfpPairsOptions::folds, "folders of the split", 1, 99);
    o.field("track", &CfpPairsOptions::track, "name of the track");
    o.choice("identity", &CfpPairsOptions::identity, "how a name tells who it is",
             identity_rules().names());
  }
};

// The lists of Celebrities in Frontal-Profile, in Protocol/ or beside it: Pair_list_F.txt and
// Pair_list_P.txt (image_list_F.txt and image_list_P.txt in some copies) hold `NUMBER PATH` in
// every line, numbered from 1, paths from their own folder; Split/KIND/NN/same.txt and diff.txt, NN
// from 01, hold pairs of such numbers, `A,B`. Source: the data set's Readme.txt (Sengupta et al.,
// WACV 2016).
std::unique_ptr<TrialReader> make_cfp_pairs_reader(const TomlTable& table);

}  // namespace facebench
