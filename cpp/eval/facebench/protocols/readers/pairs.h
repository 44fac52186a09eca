#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facebench/protocols/reader.h"
#include "facebench/protocols/readers/sample_names.h"

namespace facebench {

struct PairsOptions {
  std::string file;
  std::string track = "pairs";
  std::string separator = "comma";
  bool header = true;
  std::int64_t lines_per_pair = 1;
  // Names of columns; without a header line they are "0", "1", ...
  std::optional<std::string> first;
  std::optional<std::string> second;
  std::optional<std::string> label;
  std::optional<std::string> fold;
  std::vector<std::string> genuine = {"1"};
  std::vector<std::string> impostor = {"0"};
  std::string folds = "none";
  std::optional<std::int64_t> fold_count;
  std::string prefix;
  std::string suffix;
  std::string identity = "genuine";
  static void describe(OptionsBuilder<PairsOptions>& o);
};

// Any list of pairs with labels, its form stated by the protocol's TOML.
std::unique_ptr<TrialReader> make_pairs_reader(const TomlTable& table);

}  // namespace facebench
