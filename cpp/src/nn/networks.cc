#include "facebench/nn/networks.h"

#include <fmt/format.h>

#include <iterator>
#include <stdexcept>
#include <vector>

namespace facebench {
#define FILE(name) std::vector<NetworkEntry> name##_networks();
#include "nn/networks/files.inc"
#undef FILE

const Table<NetworkEntry>& networks() {
  static const Table<NetworkEntry> table("network", [] {
    std::vector<NetworkEntry> all;
    const auto add = [&](std::vector<NetworkEntry> some) {
      all.insert(all.end(), std::make_move_iterator(some.begin()),
                 std::make_move_iterator(some.end()));
    };
#define FILE(name) add(name##_networks());
#include "nn/networks/files.inc"
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
  if (!entry.scalable && resolved.channel_multiplier != 1)
    throw std::invalid_argument(fmt::format("network '{}' has no channel_multiplier", name));
  const std::optional<int> heads = entry.defaults.auxiliary;
  if (resolved.auxiliary == 1 && !heads)
    throw std::invalid_argument(fmt::format("network '{}' has no auxiliary classifiers", name));
  if (!resolved.auxiliary) resolved.auxiliary = resolved.classes > 0 && heads == 1 ? 1 : 0;
  return resolved;
}

Graph build_graph(std::string_view name, const NetworkOptions& options) {
  return networks().at(name).build(resolve_network_options(name, options));
}

Network build_network(std::string_view name, const NetworkOptions& options,
                      std::string_view initializer, std::uint64_t seed) {
  return Network(build_graph(name, options), initializer, seed);
}

}  // namespace facebench
