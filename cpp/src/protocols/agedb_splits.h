#pragma once

#include <memory>

#include "facebench/protocols/reader.h"
#include "protocols/sample_names.h"

namespace facebench {

struct AgedbSplitsOptions {
  std::string file;
  std::string variable = "splits";
  std::string track = "pairs";
  std::string suffix = ".jpg";
  std::string identity = "second_part";
  static void describe(OptionsBuilder<AgedbSplitsOptions>& o) {
    o.name("agedb_splits", "AgeDB's splits.");
    o.field("file", &AgedbSplitsOptions::file, "the MAT file").required = true;
    o.field("variable", &AgedbSplitsOptions::variable, "the variable that holds the splits");
    o.field("track", &AgedbSplitsOptions::track, "name of the track");
    o.field("suffix", &AgedbSplitsOptions::suffix, "added to each name");
    o.choice("identity", &AgedbSplitsOptions::identity, "how a name tells who it is",
             identity_rules().names());
  }
};

// AgeDB's splits: a MAT file of version 5 whose variable `splits` is a column of cells, one a fold;
// each holds a structure of two fields, a cell array of two rows (first and second image of every
// pair, each a structure whose first field is the name without extension, or the name itself) and a
// row of labels, 1 genuine and -1 (or 0) impostor. Fields count by their order, not by name. Names
// are NUMBER_PERSON_AGE_SEX. Source: a public evaluation that reads the file; the data set is by
// Moschoglou et al., CVPR Workshops 2017.
std::unique_ptr<TrialReader> make_agedb_splits_reader(const TomlTable& table);

}  // namespace facebench
