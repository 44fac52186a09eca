#pragma once

#include <span>
#include <string_view>

#include "facebench/embedding/model.h"
#include "facebench/io/json.h"
#include "facebench/nn/graph.h"

namespace facebench {

// What Model::network is where the graph is none of networks(): the model file then holds the graph
// itself, as graph_json() has it, under "graph" in its metadata.
inline constexpr std::string_view kImportedNetwork = "imported";

// A model of any graph, in evaluation mode. Throws Error naming `where` and a tensor that is
// missing, unexpected or of another shape, std::invalid_argument for options that do not fit the
// graph.
Model imported_model(Graph graph, std::span<const NamedTensor> tensors, const ModelOptions& options,
                     std::string_view where);

// A graph as JSON, for model files whose network is none of networks():
//   {"nodes": [{"name": "input", "op": "input", "inputs": [], "shape": [3, 112, 112]},
//              {"name": "conv1", "op": "conv", "inputs": [0], "options": {"out": 64, ...}}, ...],
//    "taps": {"embedding": 151}}
// Options are those of graph.h by their names; a Size2 is [height, width], a Padding [top, left,
// bottom, right].
Json graph_json(const Graph& graph);

// graph_json() read back; shapes are inferred anew. Throws Error naming `where` and the node: a key
// or operation that is missing or unknown, a number of another type or out of range, a layer that
// does not fit its input, more than 10,000 nodes.
Graph parse_graph(const Json& json, std::string_view where);

}  // namespace facebench
