#pragma once

#include <memory>

#include "facebench/protocols/reader.h"
#include "facebench/protocols/readers/sample_names.h"

namespace facebench {

// Either the lists of the three sets,
struct IjbaQualityLists {
  std::string low = "namelist_low.mat";
  std::string middle = "namelist_middle.mat";
  std::string high = "namelist_high.mat";
  static void describe(OptionsBuilder<IjbaQualityLists>& o) {
    constexpr const char* doc =
        "MAT file of version 5 with a variable `namelist`: a cell array of two columns, subject "
        "and "
        "file name";
    o.name("ijba_quality", "Three lists of samples by quality.");
    o.field("low", &IjbaQualityLists::low, doc);
    o.field("middle", &IjbaQualityLists::middle, doc);
    o.field("high", &IjbaQualityLists::high, doc);
  }
};

// or scores of quality: low < low_below <= middle < high_from <= high.
struct IjbaQualityScores {
  std::string scores;
  double low_below = 30;
  double high_from = 60;
  std::string identity = "folder";
  static void describe(OptionsBuilder<IjbaQualityScores>& o) {
    o.name("ijba_quality", "A file of quality scores.");
    o.field("scores", &IjbaQualityScores::scores,
            "CSV file with columns sample and quality, and identity where the names do not say who "
            "it is")
        .required = true;
    o.field("low_below", &IjbaQualityScores::low_below, "quality below which a sample is low");
    o.field("high_from", &IjbaQualityScores::high_from, "quality from which a sample is high");
    o.choice("identity", &IjbaQualityScores::identity, "how a name tells who it is",
             identity_rules().names());
  }
};

// Samples in three sets by quality (Guo & Zhang, FG 2018): every low and every middle one is
// compared with every high one (dense tracks low2high and middle2high).
std::unique_ptr<TrialReader> make_ijba_quality_reader(const TomlTable& table);

}  // namespace facebench
