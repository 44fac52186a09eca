#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

// LFW's pair lists. The first line is `FOLDS<tab>N` (View 2) or `N` (View 1, one set without
// folds); then for each fold N lines `NAME<tab>I<tab>J` (two photographs of one person) and N lines
// `NAME_A<tab>I<tab>NAME_B<tab>J`. Numbers count from 1; photograph I of NAME is the file
// NAME/NAME_%04d.jpg. Source: the README of the data set (Huang et al. 2007, section III).
//
// Keys: pairs (file name), track (name of the resulting track), extension (".jpg").
std::unique_ptr<TrialReader> make_lfw_pairs_reader(const TomlTable& table);

}  // namespace facebench
