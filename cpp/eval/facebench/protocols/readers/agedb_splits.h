#pragma once

#include <memory>

#include "facebench/protocols/reader.h"
#include "facebench/protocols/readers/sample_names.h"

namespace facebench {

struct AgedbSplitsOptions {
  std::string file;
  std::vector<std::string> other_names;
  std::string variable = "splits";
  std::string track = "pairs";
  std::string suffix = ".jpg";
  std::string identity = "first_word";
  static void describe(OptionsBuilder<AgedbSplitsOptions>& o) {
    o.name("agedb_splits", "AgeDB's splits.");
    o.field("file", &AgedbSplitsOptions::file, "the MAT file").required = true;
    o.field("other_names", &AgedbSplitsOptions::other_names, "other names that copies of it have");
    o.field("variable", &AgedbSplitsOptions::variable, "the variable that holds the splits");
    o.field("track", &AgedbSplitsOptions::track, "name of the track");
    o.field("suffix", &AgedbSplitsOptions::suffix, "added to each name");
    o.choice("identity", &AgedbSplitsOptions::identity, "how a name tells who it is",
             identity_rules().names());
  }
};

// AgeDB's splits: a MAT file of version 5 whose variable `splits` is a column of cells, one a fold;
// each holds a structure of two fields, a cell array of two rows (first and second image of every
// pair, each a structure whose first field is the name without extension and whose second is the
// age, or the name itself) and a row of labels, 1 genuine and -1 (or 0) impostor. Fields count by
// their order, not by name. Names begin with the person in the protocol's own folder of images and
// with a number in the data set's. Source: public readers of the file, named in
// tests/eval/protocols/release_pairs_test.cc; the data set is by Moschoglou et al., CVPR Workshops
// 2017.
std::unique_ptr<TrialReader> make_agedb_splits_reader(const TomlTable& table);

}  // namespace facebench
