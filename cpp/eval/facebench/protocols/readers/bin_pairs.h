#pragma once

#include <memory>
#include <string>

#include "facebench/protocols/reader.h"

namespace facebench {

struct BinPairsOptions {
  std::string file;
  std::string track = "pairs";
  std::int64_t folds = 10;
  static void describe(OptionsBuilder<BinPairsOptions>& o) {
    o.name("bin", "InsightFace's test sets.");
    o.field("file", &BinPairsOptions::file,
            "its name in a folder, without .bin or .bin.xz; empty: the only one there");
    o.field("track", &BinPairsOptions::track, "name of the track");
    o.field("folds", &BinPairsOptions::folds, "consecutive blocks of pairs", 2, 1'000'000);
  }
};

// InsightFace's test sets (io/verification_pack.h), which hold images and labels in one file: where
// lists are looked for stands for that file, or a folder with it. Folds are consecutive blocks of
// pairs, the first of them one longer where the pairs do not divide (sklearn's KFold without
// shuffling, as verification.py does). Samples have the names that the archive gives its images;
// people are known within a pair only.
std::unique_ptr<TrialReader> make_bin_reader(const TomlTable& table);

}  // namespace facebench
