#include "facebench/nn/losses.h"

#include <fmt/format.h>

#include <stdexcept>

namespace facebench {

#define FILE(name) LossEntry name##_loss();
#include "facebench/nn/losses/files.inc"
#undef FILE

const Table<LossEntry>& losses() {
  static const Table<LossEntry> table("loss", {
#define FILE(name) name##_loss(),
#include "facebench/nn/losses/files.inc"
#undef FILE
                                              });
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
