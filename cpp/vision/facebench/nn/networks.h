#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "facebench/core/options_fwd.h"
#include "facebench/core/registry.h"
#include "facebench/nn/graph.h"
#include "facebench/nn/network.h"

namespace facebench {

// The options of a network's builder. Unset: the network's own default.
struct NetworkOptions {
  std::optional<int> height;
  std::optional<int> width;
  int channels = 3;
  // If a network ends in pooled features, a linear layer "embedding" after them gives any other
  // length.
  std::optional<int> embedding;
  // With classes > 0 the graph has its classifier (tap "logits"), named and counted as its authors
  // do; with 0 it ends at the embedding, and the classifier belongs to the loss.
  int classes = 0;
  double channel_multiplier = 1;
  // Auxiliary classifiers (taps "aux1", "aux2"): 1 with, 0 without; unset: as the network's entry
  // says where there are classes, else without. Without classes the taps are what the classifiers
  // would read, as "embedding" is what the main one reads.
  std::optional<int> auxiliary;
  // What is added to the variance in every batch norm.
  std::optional<double> batch_norm_eps;
  // Of a network that reads sequences of words in place of images (it has no height and width): how
  // many words a sequence has, and how many there are.
  std::optional<int> words;
  std::optional<int> vocabulary;

  static void describe(OptionsBuilder<NetworkOptions>& o);
};

struct NetworkEntry {
  std::string name;
  std::string doc;
  std::string source;
  // embedding; height and width, or words and vocabulary; auxiliary: unset where the network has no
  // auxiliary classifiers, else whether it has them where nothing is said.
  NetworkOptions defaults;
  // The factor of each auxiliary classifier's loss in training, by the network's authors or the
  // library whose flavour it is.
  double aux_weight = 0;
  bool scalable = false;  // whether channel_multiplier may differ from 1
  // Adds the network behind its input `x`, images or words.
  void (*build)(Graph& g, Value x, const NetworkOptions& resolved);
};

const Table<NetworkEntry>& networks();

// `options` with the network's defaults in place of zeros. Throws std::invalid_argument for an
// unknown network or an option that it does not have.
NetworkOptions resolve_network_options(std::string_view name, const NetworkOptions& options);
Graph build_graph(std::string_view name, const NetworkOptions& options = {});
// The graph with fresh weights, in training mode (nn/network.h).
Network build_network(std::string_view name, const NetworkOptions& options = {},
                      std::string_view initializer = "torch", std::uint64_t seed = 0);

}  // namespace facebench
