#include "facebench/trials/internal/trial_kinds.h"

namespace facebench {

const Table<TrialKind>& trial_kinds() {
  static const Table<TrialKind> table(
      "kind of trials",
      {{"listed", "a list of comparisons", read_listed_trials},
       {"dense", "every unit of one set with every unit of another", read_dense_trials},
       {"matrix", "templates of each group with those of each other group, of the same subjects",
        read_matrix_trials},
       {"identification", "probes searched in a gallery", read_identification_trials}});
  return table;
}

}  // namespace facebench
