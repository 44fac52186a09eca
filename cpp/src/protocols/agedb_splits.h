#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

// AgeDB's splits: a MAT file of version 5 whose variable `splits` is a column of cells, one a fold;
// each holds a structure of two fields, a cell array of two rows (first and second image of every
// pair, each a structure whose first field is the name without extension, or the name itself) and a
// row of labels, 1 genuine and -1 (or 0) impostor. Fields count by their order, not by name. Names
// are NUMBER_PERSON_AGE_SEX. Source: a public evaluation that reads the file; the data set is by
// Moschoglou et al., CVPR Workshops 2017.
//
// Keys: file, variable ("splits"), track, suffix (".jpg"), identity ("second_part").
std::unique_ptr<TrialReader> make_agedb_splits_reader(const TomlTable& table);

}  // namespace facebench
