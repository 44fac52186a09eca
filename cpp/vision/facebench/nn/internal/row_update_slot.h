#pragma once

#include "facebench/nn/row_update.h"

namespace facebench {

// Where a backward pass finds what UpdateInBackward was made with: shared by a head and its graphs.
struct RowUpdateSlot {
  RowUpdate update;  // empty: the gradient is stored
  bool done = false;
};

}  // namespace facebench
