#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/io/json.h"
#include "facebench/nn/network.h"
#include "facebench/training/trained_network.h"

namespace facebench {

// Weights that a training begins with in place of the recipe's initial ones.
struct FirstWeights {
  std::string where;                 // the file, in messages
  std::vector<NamedTensor> tensors;  // as its state dict has them
  // What records say of it: {"file", "sha256"}, where it says so "network".
  Json source = Json::object();
};

// What became of them.
struct TakenWeights {
  std::vector<std::string> taken;    // the network's names
  std::vector<std::string> fresh;    // of the network, not there or of another shape
  std::vector<std::string> misfits;  // of these the latter: "fc.weight (64, 512), here (128, 512)"
  std::vector<std::string> unused;   // of the file, by its names

  bool complete() const { return fresh.empty() && unused.empty(); }
  // {"taken": how many, "fresh": [names], "unused": [names]}
  Json json() const;
  // What was taken and what was not, in one sentence.
  std::string sentence(const std::string& where) const;
};

// Copies what has the name and the shape of one of the network's tensors. Modules around the
// network
// ("module.", "backbone.") leave its names, and counters of batches count for nothing, as in
// convert_weights(). `name`: the network's, empty for one of the caller's. Throws Error where
// nothing can be taken.
TakenWeights take_weights(const TrainedNetwork& network, std::string_view name,
                          const FirstWeights& weights);

}  // namespace facebench
