#include "facebench/protocols/reader.h"

#include "protocols/agedb_splits.h"
#include "protocols/cfp_pairs.h"
#include "protocols/dfw.h"
#include "protocols/lfw_pairs.h"
#include "protocols/pairs.h"
#include "protocols/template_list.h"
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
        make_umdfaces_reader},
       {"dfw", "DFW's list of names and its mask, an entry for each pair of them", make_dfw_reader},
       {"template_list", "VGGFace2's lists of templates, blocks of images for each subject",
        make_template_list_reader}});
  return table;
}

}  // namespace facebench
