#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

struct LfwGroupsOptions {
  std::vector<std::string> groups;
  std::string pairs;
  std::int64_t folds = 10;
  std::int64_t size = 300;
  std::string extension = ".jpg";
  static void describe(OptionsBuilder<LfwGroupsOptions>& o) {
    o.name("lfw_groups", "Lists of pairs in LFW's form, one for each group of people.");
    o.field("groups", &LfwGroupsOptions::groups, "names of the groups, and of the tracks")
        .required = true;
    o.field("pairs", &LfwGroupsOptions::pairs, "the list; GROUP stands for the group's name")
        .required = true;
    o.field("folds", &LfwGroupsOptions::folds, "folds of a list", 1, 999'999);
    o.field("size", &LfwGroupsOptions::size, "genuine pairs of a fold, and as many impostor pairs",
            1, 999'999);
    o.field("extension", &LfwGroupsOptions::extension, "of the photographs' files");
  }
};

// LFW's pair lists. The first line is `FOLDS<tab>N` (View 2) or `N` (View 1, one set without
// folds); then for each fold N lines `NAME<tab>I<tab>J` (two photographs of one person) and N lines
// `NAME_A<tab>I<tab>NAME_B<tab>J`. Numbers count from 1; photograph I of NAME is the file
// NAME/NAME_%04d.jpg. Source: the README of the data set (Huang et al. 2007, section III).
std::unique_ptr<TrialReader> make_lfw_pairs_reader(const TomlTable& table);

// The same lists without the first line, a track for each group; photograph I of NAME is the file
// GROUP/NAME/NAME_%04d.jpg. Source: RFW (Wang et al., ICCV 2019), test/txts/GROUP/GROUP_pairs.txt.
std::unique_ptr<TrialReader> make_lfw_groups_reader(const TomlTable& table);

}  // namespace facebench
