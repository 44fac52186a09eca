#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "facebench/core/options_fwd.h"
#include "facebench/core/registry.h"
#include "facebench/nn/head.h"

namespace facebench {

// One loss. Its options, head, formula and entry are one file, src/nn/losses/NAME.cc.
struct LossEntry {
  std::string name;
  std::string doc;
  std::string source;  // the paper, and whose convention where they differ
  const OptionsSchema* options = nullptr;
  std::function<std::unique_ptr<Head>(const Json& options, const HeadShape&)> make;
};

const Table<LossEntry>& losses();

// The head of the loss called `name`; `options` is an object of its options, what is left out keeps
// its default. Throws std::invalid_argument for an unknown loss (did you mean) or an empty shape,
// Error for a bad option.
std::unique_ptr<Head> make_head(std::string_view name, const Json& options, const HeadShape& shape);

}  // namespace facebench
