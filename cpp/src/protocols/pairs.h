#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

// Any list of pairs with labels, its form stated by the protocol's TOML. Keys of [reader]:
//   file             the list
//   track            name of the resulting track ("pairs")
//   separator        comma (RFC 4180), tab, or blanks (any run of spaces and tabs)
//   header           whether the first line names the columns; else they are "0", "1", ...
//   lines_per_pair   1: a line is a pair, with the columns `first`, `second` and `label`;
//                    2: two lines in a row are a pair, each with the columns `first` and `label`
//   genuine          the words that mean genuine in the column `label`
//   impostor         the words that mean impostor
//   folds            none; column: the column `fold` names them, numbered as they first appear;
//                    order: each class is cut into `fold_count` runs of one length;
//                    label: the words of `genuine` are the folds, impostors are cut as in order
//   prefix, suffix   what a name lacks at its ends to be a path below the image folder
//   identity         identity_rules(): how a name tells who it is ("genuine")
std::unique_ptr<TrialReader> make_pairs_reader(const TomlTable& table);

}  // namespace facebench
