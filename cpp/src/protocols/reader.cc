#include "facebench/protocols/reader.h"

#include "protocols/agedb_splits.h"
#include "protocols/cfp_pairs.h"
#include "protocols/lfw_pairs.h"
#include "protocols/pairs.h"
#include "protocols/umdfaces.h"

namespace facebench {

const Table<TrialReaderEntry>& trial_readers() {
  static const Table<TrialReaderEntry> table(
      "trial reader",
      {{"lfw_pairs", "LFW's pairs.txt and pairsDevTest.txt: tab-separated names and numbers",
        make_lfw_pairs_reader},
       {"pairs", "any list of pairs with labels and folds, its form stated by keys",
        make_pairs_reader},
       {"cfp_pairs", "CFP's numbered image lists and Split/FF or Split/FP", make_cfp_pairs_reader},
       {"agedb_splits", "AgeDB's MAT file of splits", make_agedb_splits_reader},
       {"umdfaces", "UMDFaces' CSV files: tracks by yaw difference, drawn or from a list",
        make_umdfaces_reader}});
  return table;
}

}  // namespace facebench
