#include "facebench/protocols/reader.h"

#include <algorithm>

#include "facebench/protocols/readers/agedb_splits.h"
#include "facebench/protocols/readers/bin_pairs.h"
#include "facebench/protocols/readers/blufr.h"
#include "facebench/protocols/readers/cfp_pairs.h"
#include "facebench/protocols/readers/dfw.h"
#include "facebench/protocols/readers/folders.h"
#include "facebench/protocols/readers/ijb.h"
#include "facebench/protocols/readers/ijba.h"
#include "facebench/protocols/readers/ijba_quality.h"
#include "facebench/protocols/readers/lfw_pairs.h"
#include "facebench/protocols/readers/lfw_people.h"
#include "facebench/protocols/readers/mat_search.h"
#include "facebench/protocols/readers/pairs.h"
#include "facebench/protocols/readers/survface.h"
#include "facebench/protocols/readers/template_list.h"
#include "facebench/protocols/readers/umdfaces.h"

namespace facebench {

std::vector<std::string> TrialReader::missing(const std::filesystem::path& lists) const {
  std::vector<std::string> absent = files();
  std::erase_if(absent, [&](const std::string& file) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(lists / file, ignored);
  });
  return absent;
}

const Table<TrialReaderEntry>& trial_readers() {
  static const Table<TrialReaderEntry> table(
      "trial reader",
      {{"folders", "people of one's own: a folder for each, with images in it",
        make_folders_reader},
       {"ijba_1_1", "IJB-A's templates and comparisons of templates, ten splits",
        make_ijba_11_reader},
       {"ijba_1_n", "IJB-A's galleries and probes, ten splits", make_ijba_1n_reader},
       {"ijb_1_1",
        "IJB-B's and IJB-C's comparisons of templates, as NIST or InsightFace packs them",
        make_ijb_11_reader},
       {"ijb_1_n", "IJB-B's and IJB-C's galleries and probes, as NIST or InsightFace packs them",
        make_ijb_1n_reader},
       {"ijba_quality", "three lists of samples by quality, or a file of quality scores",
        make_ijba_quality_reader},
       {"lfw_people", "LFW's people.txt: everybody with their number of images",
        make_lfw_people_reader},
       {"blufr", "BLUFR's MAT file: random divisions of LFW, pairs or gallery and probes",
        make_blufr_reader},
       {"lfw_pairs", "LFW's pairs.txt and pairsDevTest.txt: tab-separated names and numbers",
        make_lfw_pairs_reader},
       {"lfw_groups", "lists of pairs in LFW's form without a first line, one for each group",
        make_lfw_groups_reader},
       {"pairs", "any list of pairs with labels and folds, its form stated by keys",
        make_pairs_reader},
       {"cfp_pairs", "CFP's numbered image lists and Split/FF or Split/FP", make_cfp_pairs_reader},
       {"bin", "InsightFace's test sets: images and labels in one file, pairs in their order",
        make_bin_reader},
       {"agedb_splits", "AgeDB's MAT file of splits", make_agedb_splits_reader},
       {"umdfaces", "UMDFaces' CSV files: tracks by yaw difference, drawn or from a list",
        make_umdfaces_reader},
       {"dfw", "DFW's list of names and its mask, an entry for each pair of them", make_dfw_reader},
       {"template_list", "VGGFace2's lists of templates, blocks of images for each subject",
        make_template_list_reader},
       {"tinyface", "TinyFace's MAT lists of gallery and probes, and its folder of distractors",
        make_tinyface_reader},
       {"survface_pairs", "QMUL-SurvFace's MAT lists of genuine and impostor pairs",
        make_survface_pairs_reader},
       {"survface_search",
        "QMUL-SurvFace's MAT lists of gallery and mated probes, and its folder of non-mated ones",
        make_survface_search_reader}});
  return table;
}

}  // namespace facebench
