#include "facebench/nn/networks.h"

#include <fmt/format.h>

#include <iterator>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "facebench/core/options.h"

namespace facebench {

void NetworkOptions::describe(OptionsBuilder<NetworkOptions>& o) {
  o.name("NetworkOptions", "What a network is built for; unset: its own default.");
  o.field("height", &NetworkOptions::height, "height of the input, pixels", 1, 4096);
  o.field("width", &NetworkOptions::width, "width of the input, pixels", 1, 4096);
  o.field("channels", &NetworkOptions::channels, "channels of the input", 1, 64);
  o.field("embedding", &NetworkOptions::embedding, "length of the embedding", 1, 65536);
  o.field("classes", &NetworkOptions::classes, "classes of the classifier; 0: none", 0,
          100'000'000);
  o.field("channel_multiplier", &NetworkOptions::channel_multiplier,
          "factor on the number of channels, where the network allows it", 0.01, 16);
  o.field("auxiliary", &NetworkOptions::auxiliary,
          "auxiliary classifiers: 1 with, 0 without; default: the network's", 0, 1);
  o.field("batch_norm_eps", &NetworkOptions::batch_norm_eps,
          "added to the variance in batch norm; default: what the network has", 1e-12, 1);
  o.field("words", &NetworkOptions::words, "words of a sequence, where the network reads words", 1,
          65536);
  o.field("vocabulary", &NetworkOptions::vocabulary, "how many different words there are", 1,
          100'000'000);
}
#define FILE(name) std::vector<NetworkEntry> name##_networks();
#include "facebench/nn/networks/files.inc"
#undef FILE

const Table<NetworkEntry>& networks() {
  static const Table<NetworkEntry> table("network", [] {
    std::vector<NetworkEntry> all;
    const auto add = [&](std::vector<NetworkEntry> some) {
      all.insert(all.end(), std::make_move_iterator(some.begin()),
                 std::make_move_iterator(some.end()));
    };
#define FILE(name) add(name##_networks());
#include "facebench/nn/networks/files.inc"
#undef FILE
    return all;
  }());
  return table;
}

NetworkOptions resolve_network_options(std::string_view name, const NetworkOptions& options) {
  const NetworkEntry& entry = networks().at(name);
  check_options(options);
  NetworkOptions resolved = options;
  if (!resolved.height) resolved.height = entry.defaults.height;
  if (!resolved.width) resolved.width = entry.defaults.width;
  if (!resolved.embedding) resolved.embedding = entry.defaults.embedding;
  if (!resolved.words) resolved.words = entry.defaults.words;
  if (!resolved.vocabulary) resolved.vocabulary = entry.defaults.vocabulary;
  if (entry.defaults.words && (resolved.height || resolved.width))
    throw std::invalid_argument(fmt::format("network '{}' reads words: it has no size", name));
  if (!entry.defaults.words && (resolved.words || resolved.vocabulary))
    throw std::invalid_argument(fmt::format("network '{}' reads images, not words", name));
  if (!entry.scalable && resolved.channel_multiplier != 1)
    throw std::invalid_argument(fmt::format("network '{}' has no channel_multiplier", name));
  const std::optional<int> heads = entry.defaults.auxiliary;
  if (resolved.auxiliary == 1 && !heads)
    throw std::invalid_argument(fmt::format("network '{}' has no auxiliary classifiers", name));
  if (!resolved.auxiliary) resolved.auxiliary = resolved.classes > 0 && heads == 1 ? 1 : 0;
  return resolved;
}

// The graph with another epsilon in every batch norm.
static Graph with_batch_norm_eps(const Graph& graph, double eps) {
  Graph result;
  for (Node node : graph.nodes()) {
    if (auto* norm = std::get_if<BatchNormOptions>(&node.options)) norm->eps = eps;
    result.append(std::move(node));
  }
  for (const auto& [tap, node] : graph.taps()) result.tap(tap, {node});
  return result;
}

Graph build_graph(std::string_view name, const NetworkOptions& options) {
  const NetworkOptions o = resolve_network_options(name, options);
  Graph graph;
  const Value input =
      o.words ? graph.words(*o.words, *o.vocabulary) : graph.input(o.channels, *o.height, *o.width);
  networks().at(name).build(graph, input, o);
  return o.batch_norm_eps ? with_batch_norm_eps(graph, *o.batch_norm_eps) : graph;
}

Network build_network(std::string_view name, const NetworkOptions& options,
                      std::string_view initializer, std::uint64_t seed) {
  return Network(build_graph(name, options), initializer, seed);
}

}  // namespace facebench
