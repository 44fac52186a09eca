#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

// Samples in three sets by quality (Guo & Zhang, FG 2018): every low and every middle one is
// compared with every high one (dense tracks low2high and middle2high).
//
// Keys, either of the two:
//   high, middle, low   MAT files of version 5, each with a variable `namelist`: a cell array of
//                       two columns, subject and file name
//   scores              a CSV file with columns sample and quality, and identity where the names do
//                       not say who it is by the rule `identity` (default "folder");
//                       low < low_below <= middle < high_from <= high (defaults 30 and 60)
std::unique_ptr<TrialReader> make_ijba_quality_reader(const TomlTable& table);

}  // namespace facebench
