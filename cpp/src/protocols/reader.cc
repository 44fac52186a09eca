#include "facebench/protocols/reader.h"

#include "protocols/lfw_pairs.h"

namespace facebench {

const Table<TrialReaderEntry>& trial_readers() {
  static const Table<TrialReaderEntry> table(
      "trial reader",
      {{"lfw_pairs", "LFW's pairs.txt and pairsDevTest.txt: tab-separated names and numbers",
        make_lfw_pairs_reader}});
  return table;
}

}  // namespace facebench
