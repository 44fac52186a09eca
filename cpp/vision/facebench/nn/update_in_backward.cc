#include "facebench/nn/update_in_backward.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "facebench/nn/internal/row_update_slot.h"

namespace facebench {

UpdateInBackward::UpdateInBackward(Head& head, RowUpdate update) : slot_(*head.row_update_slot()) {
  if (!head.updates_in_backward())
    throw std::logic_error(
        fmt::format("loss {} does not compute its gradient in tiles of classes", head.name()));
  slot_ = {std::move(update), false};
}

UpdateInBackward::~UpdateInBackward() { slot_ = {}; }

bool UpdateInBackward::done() const { return slot_.done; }

}  // namespace facebench
