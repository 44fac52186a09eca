#include "facebench/nn/losses.h"

#include <fmt/format.h>

#include <stdexcept>

namespace facebench {

// One row a loss: the function NAME_loss() of losses/NAME.cc makes its entry.
#define FACEBENCH_LOSSES(row) row(softmax) row(center) row(sphereface) row(cosface) row(arcface)

#define FACEBENCH_DECLARE(name) LossEntry name##_loss();
FACEBENCH_LOSSES(FACEBENCH_DECLARE)

const Table<LossEntry>& losses() {
#define FACEBENCH_ENTRY(name) name##_loss(),
  static const Table<LossEntry> table("loss", {FACEBENCH_LOSSES(FACEBENCH_ENTRY)});
  return table;
}

std::unique_ptr<Head> make_head(std::string_view name, const Json& options,
                                const HeadShape& shape) {
  const LossEntry& entry = losses().at(name);
  if (shape.features < 1 || shape.classes < 1)
    throw std::invalid_argument(fmt::format("loss {}: {} features and {} classes make no head",
                                            name, shape.features, shape.classes));
  return entry.make(options.is_null() ? Json::object() : options, shape);
}

}  // namespace facebench
