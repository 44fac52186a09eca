#pragma once

#include "facebench/nn/head.h"
#include "facebench/nn/row_update.h"

namespace facebench {

// While it lives, the backward pass of the head's last loss() gives the gradient of the class
// weight to `update` piece by piece, and stores it nowhere: class_weight().grad() is left alone.
// One object at a time for each head, and one backward pass.
//
// A pass that reaches a second loss() of the head throws std::logic_error: each would change the
// weights by itself.
class UpdateInBackward {
 public:
  // Throws std::logic_error where not head.updates_in_backward().
  UpdateInBackward(Head& head, RowUpdate update);
  ~UpdateInBackward();
  UpdateInBackward(const UpdateInBackward&) = delete;
  UpdateInBackward& operator=(const UpdateInBackward&) = delete;

  // Whether `update` has got the gradient.
  bool done() const;

 private:
  RowUpdateSlot& slot_;
};

}  // namespace facebench
