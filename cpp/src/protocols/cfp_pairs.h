#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

// The lists of Celebrities in Frontal-Profile. Protocol/image_list_F.txt and image_list_P.txt hold
// `NUMBER PATH` in every line, numbered from 1; Split/KIND/NN/same.txt and diff.txt, NN from 01,
// hold pairs of such numbers, `A,B`. Source: the data set's Readme.txt (Sengupta et al., WACV
// 2016).
//
// Keys: split ("FF" or "FP", the folder below Split), first and second (which of the image lists
// the two numbers count in: "F" or "P"), folds (10), track, identity ("parent_folder").
std::unique_ptr<TrialReader> make_cfp_pairs_reader(const TomlTable& table);

}  // namespace facebench
